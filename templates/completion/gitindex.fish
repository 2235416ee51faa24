function __gitindex_offer
    set -l words (commandline -opc)
    COMP_WORDS=(string join ' ' -- $words (commandline -ct)) COMP_CWORD=(count $words) _GITINDEX_COMPLETE=complete_bash gitindex 2>/dev/null
end
complete --no-files --command gitindex --arguments "(__gitindex_offer)"
