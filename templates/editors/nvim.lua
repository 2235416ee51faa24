-- gitindex as a language server, for Neovim 0.11 and later.
-- Needs: pip install 'gitindex[all]', and `gitindex index` once in the repository.
vim.lsp.config('gitindex', {
  cmd = { 'gitindex', 'lsp' },
  root_markers = { '.git' },
})
vim.lsp.enable('gitindex')
