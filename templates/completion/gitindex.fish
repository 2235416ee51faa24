function __gitindex_offer
    _GITINDEX_COMPLETE=fish_complete COMP_WORDS=(commandline -cp | string collect) COMP_CWORD=(commandline -t | string collect) gitindex 2>/dev/null | string replace -r '^[a-z]+,' ''
end
complete --no-files --command gitindex --arguments "(__gitindex_offer)"
