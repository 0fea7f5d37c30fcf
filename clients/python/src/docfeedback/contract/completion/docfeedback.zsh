#compdef docfeedback
_docfeedback() {
  local -a common=('--hub-url[The address of the Hub]:address:' '--json[Print JSON]' \
    '--verbose[Show what is sent and answered]' '--help[Show help]')
  if (( CURRENT == 2 )); then
    compadd -- report status known reports login logout me init config completion help --help --version
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
    report) _arguments $common '--doc-url[The page]:address:' '--summary[What is wrong]:text:' \
      '--agent[Who reports]:name:' '--details[More about it]:text:' \
      '--kind[The kind]:kind:(broken incorrect outdated missing unclear other)' \
      '--suggested-fix[What the page should say]:text:' '--file[A whole report]:file:_files' \
      '--base64[A whole report]:text:' '--idempotency-key[Marks repeats]:key:' \
      '--dry-run[Send nothing]' \
      '--allow-private[Allow private pages]' ;;
    reports) _arguments $common '--query[Search]:text:' '--page[The page]:address:' \
      '--status[The status]:status:(none pending sending sent folded held failed discarded)' \
      '--kind[The kind]:kind:(broken incorrect outdated missing unclear other)' \
      '--agent[Who reports]:name:' '--claim[A domain or site]:claim:' \
      '--since[From this day on]:date:' '--until[Up to this day]:date:' '--limit[How many]:number:' ;;
    login) _arguments $common '--no-browser[Open no browser]' ;;
    init) _arguments $common '--global[Third-party documentation]' '--file[File]:file:_files' \
      '--check[Change nothing]' '--remove[Take the block out]' ;;
    config) _arguments $common '1:action:(get set unset)' '2:name:(hub_url code_host token)' '3:address:' ;;
    help) _arguments $common '1:command:(report status known reports login logout me init config completion)' ;;
    completion) _arguments $common '1:shell:(bash zsh fish)' ;;
    known) _arguments $common '--allow-private[Allow private pages]' '1:address:' ;;
    logout|me) _arguments $common ;;
    status) _arguments $common '--watch[Follow it]' '--allow-private[Allow private addresses]' '1:id:' ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _docfeedback "$@"
else
  compdef _docfeedback docfeedback
fi
