_docfeedback() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
  local common="--hub-url --json --verbose --help"
  case $before in
    --kind) words="broken incorrect outdated missing unclear other" ;;
    --status) words="none pending sending sent folded held failed discarded" ;;
    --file) COMPREPLY=()  # bash itself finds files and quotes their names, from 4.0 on
      [[ $(type -t compopt) != builtin ]] || compopt -o default
      return ;;
    *) case ${COMP_WORDS[1]} in
      report) words="--doc-url --summary --agent --kind --details --suggested-fix --file
        --base64 --idempotency-key --dry-run --allow-private $common" ;;
      reports) words="--status --kind --query --page --agent --claim --since --until --limit $common" ;;
      login) words="--no-browser $common" ;;
      status) words="--watch --allow-private $common" ;;
      known) words="--allow-private $common" ;;
      logout|me) words=$common ;;
      init) words="--global --file --check --remove $common" ;;
      config) words="get set unset hub_url code_host token $common" ;;
      help) words="report status known reports login logout me init config completion" ;;
      completion) words="bash zsh fish $common" ;;
    esac ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="report status known reports login logout me init config completion help --help --version"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _docfeedback docfeedback
