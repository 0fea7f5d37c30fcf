"""Words of which a page tells each its own thing: who names one means not the other."""

# One family a line; words that mean the same are joined by "=".
_PLATFORMS = """
linux macos=osx=mac=darwin windows=win32=win64 android ios=iphone=ipados freebsd
ubuntu debian fedora rhel=redhat centos alpine arch suse=opensuse rocky
x86=x64=amd64=x86_64 arm=arm64=aarch64
bash=sh zsh fish powershell=pwsh
npm yarn pnpm bun pip=pip3 poetry uv conda cargo maven gradle composer
apt=apt-get yum=dnf brew=homebrew apk pacman winget chocolatey=choco snap scoop
aws azure gcp
github gitlab bitbucket gitea
postgresql=postgres mysql mariadb sqlite oracle mssql mongodb
chrome=chromium firefox safari edge
docker podman kubernetes=k8s swarm nomad
rest=restful graphql grpc websocket
http https
tcp udp
ipv4 ipv6
json yaml=yml xml toml csv
python=py node=nodejs=node.js=javascript=js typescript=ts java go=golang ruby php rust kotlin swift \
scala perl elixir c#=csharp=.net=dotnet c++=cpp
react vue angular svelte
english japanese chinese german french spanish korean portuguese russian italian
"""

_SIBLINGS = """
min=minimum=minimal=lower=least=smallest=最小=下限 max=maximum=maximal=upper=largest=cap=最大=上限
client=客户端=クライアント server=服务器=服务端=サーバー
request=请求=リクエスト response=响应=レスポンス
before after
read=reading=reader=读取=読み取り write=writing=writer=写入=書き込み
input=输入=入力 output=输出=出力
upload=上传=アップロード download=下载=ダウンロード
import=导入=インポート export=导出=エクスポート
source destination=target
encode=encoding decode=decoding
encrypt=加密=暗号化 decrypt=解密=復号
compress=compression decompress=decompression
serialize=serialization deserialize=deserialization
enable=启用=有効 disable=禁用=無効
allow=allowed deny=denied
insert=inserting update=updating upsert delete=deleting=deletion
left right
top bottom
first last
full incremental partial
horizontal vertical
row=rows column=columns
width height
public private
internal external
local remote
sync=synchronous async=asynchronous
major minor patch
light dark
gt gte lt lte
push pull
publish=publisher=publishing subscribe=subscriber=subscription
producer consumer
send=发送=送信 receive=接收=受信
lock=locking unlock=unlocking
install=installing=installation uninstall=uninstalling=uninstallation upgrade=upgrading
mount unmount
primary secondary replica=replicas
parent child=children
prefix suffix
username password
production=prod staging=stage development=dev
second=seconds minute=minutes hour=hours day=days week=weeks month=months year=years
viewer editor owner admin=administrator member guest
signup=register=registration signin=login logout=signout
ascending=asc descending=desc
start=begin=开始=開始 end=stop=finish=结束=終了
increase=increment decrease=decrement
append prepend
inner outer
header=headers footer body
positive negative
north south
success=succeeded failure
"""


def _table(lines: str) -> dict[str, tuple[str, str]]:
    """Word -> its family, and the first of the words that mean the same."""
    found: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(lines.strip().splitlines()):
        for group in line.split():
            words = group.split("=")
            found |= {word: (str(number), words[0]) for word in words}
    return found


PLATFORMS = _table(_PLATFORMS)
SIBLINGS = _table(_SIBLINGS)
