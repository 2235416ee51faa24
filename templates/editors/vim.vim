" gitindex as a language server, for vim with vim-lsp (https://github.com/prabirshrestha/vim-lsp).
" Needs `gitindex` with its extra `lsp` (or `all`), and `gitindex index` once in the repository.
if executable('gitindex')
  autocmd User lsp_setup call lsp#register_server({
        \ 'name': 'gitindex',
        \ 'cmd': {_ -> ['gitindex', 'lsp']},
        \ 'allowlist': ['*'],
        \ })
endif

" Without a language server: tags for vim's own commands, refreshed by hand.
command! GitindexTags silent !gitindex export --format ctags -o tags
