"""Words that all reports about documentation have, and words that mean the same.

General lists of the language, not of any page: what is not here is told apart by how rare it is.
"""

_FUNCTION_WORDS = """
a about above actual actually after again against all almost alone along already also although always
am among an and another any anyone anything anyway apparently appear appears are aren't around as at
away be became because become been before being below beside better between both but by came can
can't cannot case certain clear clearly come comes completely contrary could couldn't currently
despite did didn't different do does doesn't doing don't done due during e.g each either else enough
entirely etc even ever every everybody everyone everything exact exactly except far few finally find
following for found from fully further get gets getting give given gives go goes going gone
got had hadn't happen happened happens has hasn't have haven't having he her here herself him himself
his how however i i'd i'll i'm i've i.e if in indeed instead into is isn't it it's its itself just
keep keeps kept know known later least less let lets like likely look looks
lot made mainly make makes making many may maybe me mean means meant merely might mine more moreover
most mostly much must my myself need needed needs neither never nevertheless no nobody none
nor not nothing now nowhere of off often ok okay on once one only onto or other others otherwise
ought our ours ourselves out over own per perhaps please possible possibly present
probably put quite rather really recently regarding same say saying says see seem seems seen
several shall she should shouldn't show showing shown shows simply since so some somebody someone
something sometimes somewhere soon still such sure surely take taken takes than that that's the their
theirs them themselves then there there's therefore these they they're thing things think this those
though through thus till to today together told too took toward towards tried true try trying turn
turns two under unless until up upon us use used useful user users uses using usual usually various
very via want wanted wants was wasn't way we we're well went were weren't what what's whatever when
whenever where whereas wherever whether which while who whoever whole whom whose why will with within
without won't work worked working works would wouldn't yes yet you you'll you're your yours yourself
"""

_ABOUT_DOCUMENTATION = """
absent according accurate actual add added adding advice ambiguous anymore appeared appears article
ask asked bad bare behavior behaviour broken bug bugs call called calling chapter claim claimed claims
code column command commands complete completed completely confirm confirmed confuse confused
confusing contain contains content contradict contradicts copied copy correct corrected correctly
current deprecated describe described describes description detail details differ differs difference
discontinued doc docs document documentation documented documents doesnt edit entry error errors
example examples exist existed existing exists expect expected explain explained explains explanation
fact fail failed failing fails failure false figure fix fixed fixes follow followed gives guide
guides happened heading help helpful hint implies imply impossible improve inaccurate inconsistent
incomplete incorrect incorrectly indicate indicates info inform information instead instruct
instruction instructions introduction invalid issue issues lack lacking lacks leads list listed lists
literally longer manual match matches mention mentioned mentions mislead misleading misnamed mismatch
missing mistake mistaken needed note noted noticed observe observed obsolete omit omits omitted
outdated page pages paragraph pasted pasting point pointed points print printed prints problem
problems promise promised reader readers reads reality receive received recommend recommended
recommends refer reference refers refuse refused reject rejected remark remove removed renamed replace
replaced report reported reports require required requires result results return returned returns run
running runs sample samples screenshot section sections sentence sentences snippet snippets solve
solved specified specify state stated statement states step steps stops suggest suggested suggests
supported supports tab table tabs tell tells test tested text title today topic translated translation
tutorial unclear undocumented unexplained unsupported untrue update updated vague valid value values
verbatim version versions walkthrough warn warning wasted wiki word wording words worth write writes
written wrong wrongly wrote
"""

_OTHER_LANGUAGES = """
aber als am an auch auf aus bei beim bitte da das dass dem den der des die doch durch ein eine einem
einen einer eines er es fehlt fehler für gibt hat ich im in ist ja kann kein keine man mehr mit muss
nach nicht noch nur ob oder ohne sein seite sich sie sind so statt und vom von vor was wenn werden
wie wird wo zu zum zur über veraltet falsch beispiel dokumentation anleitung schritt abschnitt
au aux avec ce cela ces cette dans de des du elle en est et il ils je la le les leur lors mais ne ni
nous on ont ou où par pas plus pour quand que qui sans se ses si sont sur un une vers vous être
page exemple erreur étape doc documentation manque faux obsolète
al algo como con cuando de del dice donde el ella en error es esta este esto está falta ha hay la las
lo los más me mi muy no nos para pero por porque que se ser si sin sobre su sus también un una uno
ya página ejemplo paso documentación
ao aos as com da das do ela ele em essa esse esta este eu foi isso já mas na nas não no nos os
ou pela pelo por que sem ser seu sua são também um uma página exemplo erro passo documentação
che con da dal dalla dei del della di è gli ha il in la le lo ma mi nel nella non per più se si
sono su un una pagina esempio errore
aan bij dat de deze die dit een en er het hij ik in is maar naar niet nog om ook op over te
voor wat we wel wordt ze zijn pagina voorbeeld fout
без бы был во вы где для до его если есть же за из или их как ко на не нет но об он она они от
по при со так также то только уже что это я страница страницы документация документации ошибка
пример примере
"""

_CJK = """
文档 文件 页面 頁面 示例 例子 没有 沒有 说明 說明 应该 應該 错误 錯誤 已经 已經 不能 无法 無法 可以 需要 这个
这里 我们 使用 实际 中的 写的 的是 写错 不对 正确 是否 如何 怎么 什么 为什 如果 但是 因为 所以 时候 部分 内容
页中 文中 按照 按文 描述 提到 缺少 缺失 报错 运行 执行 教程 步骤 代码 建议 希望 添加 补充 修改 更新 过时
説明 記載 記述 必要 実際 間違 場合 使用 確認 追加 表示 修正 更新 問題 不明 変更 実行 手順 参照 今回 以下 以上 例が
ページ ドキュメント サンプル エラー コード バージョン ユーザー ステップ セクション テーブル
문서 페이 이지 예제 오류 설명 없습 니다 습니 합니 입니
"""

STOP = frozenset((_FUNCTION_WORDS + _ABOUT_DOCUMENTATION + _OTHER_LANGUAGES + _CJK).split())

# Of these, what may be the one word by which two sentences differ.
_THINGS = "column command figure heading introduction list result screenshot tab table title value version"
THINGS = frozenset(_THINGS.split())

# A sentence with one of these is about something else.
BY_THE_WAY = [
    *("by the way", "btw", "incidentally", "reported separately", "separate report"),
    *("reported that separately", "reported it separately"),
    *("übrigens", "nebenbei", "por cierto", "par ailleurs", "au passage", "кстати"),
    *("ちなみに", "別途報告", "顺便", "順便", "另行报告"),
]

_SYNONYMS = """
maximum: max maximal upper cap
minimum: min minimal lower
configuration: config configure configs conf cfg
authenticate: auth login signin logged authorize authorise authn authz credential credentials
parameter: param params parameters
argument: arg args arguments
repository: repo repos repositories
directory: dir dirs folder folders directories
environment: env
certificate: cert certs certificates
database: db
message: msg messages
package: pkg packages
production: prod
development: dev
permission: perm perms permissions
kubernetes: k8s
javascript: js
typescript: ts
python: py
asynchronous: async
synchronous: sync
link: links hyperlink url urls anchor href 404
number: count
initialize: init initialise
delete: del deletion
identifier: id ids
prerequisite: prerequisites prereq
expire: expiry expiration
string: str
integer: int
boolean: bool
"""

SAME = {
    word: line.partition(":")[0]
    for line in _SYNONYMS.strip().splitlines()
    for word in line.partition(":")[2].split()
}

# Words that two people may or may not use for one problem: they name nothing.
_COLORLESS = """
absolute accept accepted accepting accidentally accurate achieve act acting adapt additional adequate adjust
admit affect affected affects afford aged aim allow allowed allowing allows alone ambiguity answer answers
anymore anyway apart appear applicable applied applies apply applying appropriate approximately arbitrary
arise arrive arrives assume assumed assumes assuming attempted automatic automatically available avoid
avoids aware away awkward back bad basic basically begin begins behave behaves behaviour believe better big
bother break breaking breaks brief briefly bring brings broken build builds careful carries carry cause
caused causes causing caution chance change changed changes changing choose chosen circumstances claim
clarification clarify clarity common commonly compare compared compares complain complains complicated
concern concerning condition conflict conflicting confusion consequence consequently consider considered
consist consists constantly contradiction contrary converted converts correction couple covered covers crash
create created creates creating dangerous deal decide deep define defined defines depending depends desire
desired detail determine determined difficulty directly disagree disagrees disappear disappeared discover
discovered discrepancy disregard disregarded distinguish doubt ease easily easy effect effective effectively
effort encounter encountered end ended ends ensure equal equally essential eventually evidently examine
existence existing expectation explanation extent extremely fact failure faster fault fine fit fits forever
forget forgotten formerly forth forward fresh friendly gave generate generated generates good great guess
guidance habit hard hardly harmful high higher hope huge idea ignore ignored ignores ignoring immediate
immediately impact imply important impossible impression incompatible inconsistency indeed inner insist
instant intend intended intention interact interaction interplay introduce introduced involved irrelevant
keep kind lack late latter lead leading leave leaves leaving lines longer lose loses lost loud maintain
manage manually meaning mention mess misplaced mistake miswritten mix mixed modern moment mutual nearly
necessary nice nonexistent nonsense normal normally notice obey obvious obviously occasionally occur
occurred occurs odd offer offered offers old older omission opinion opposite original originally outcome
overlook overlooked pass passed passes passing perform performed permits permitted pick picked picks piece
place placed plain plenty pointless poor possibility potential practical practically precise prefer
preferred prepare presence prevent prevented prevents previous prior problematic produce produced produces
promise proof proper properly proposed prove provide provided provides purpose puts question quick quickly
quietly rare rarely rationale reach reached reaches real realistic reality realize reason reasonable
recommendation regard regardless relate related relevant reliable reliably rely remain remained remaining
remains remark remember renaming replacement replies reproduce reproducible requirement requirements resolve
resolved respect respected respective respectively safer sense separately serious several short shorter
significant silent silently similar simple simpler single situation slight slightly solution sort special
specific specifically stall start started starting starts statement stay stays stop stopped stopping stops
straight strange strict strictly stripped stuck style sudden suddenly suffice sufficient suggest suggestion
suitable supply support suppose supposed surprise surprised surprising swallow switched technically
temporary tolerate trap treated treats trick trouble troubleshooting trust truth typical typically
ultimately unable unaffected unavailable uncertain unchanged understand unexpected unexpectedly
unfortunately unhandled unintended unlike unnecessary unreachable unreadable unrelated unreliable unstable
unsure untouched unusable unwanted usable useless valid vanish vanished vary violate visible wanting warning
way weird wise withdrawn wonder wording workaround workarounds worse worst yield yields
"""
COLORLESS = frozenset(_COLORLESS.split())

_CARDINALS = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
CARDINALS = {word: str(number) for number, word in enumerate(_CARDINALS.split())}
ORDINALS = {word: str(number) for number, word in enumerate(_ORDINALS.split())}
