-- gitindex as a language server, for Neovim 0.7 and later: copy it into your init.lua.
-- Needs `gitindex` with its extra `lsp` (or `all`), and `gitindex index` once in the repository.
local cmd = { 'gitindex', 'lsp' }
if vim.lsp.config then -- 0.11
  vim.lsp.config('gitindex', { cmd = cmd, root_markers = { '.git' } })
  vim.lsp.enable('gitindex')
else
  local client
  vim.api.nvim_create_autocmd('BufReadPost', {
    callback = function(event)
      client = client or vim.lsp.start_client({ name = 'gitindex', cmd = cmd, root_dir = vim.fn.getcwd() })
      if client then vim.lsp.buf_attach_client(event.buf, client) end
    end,
  })
end
