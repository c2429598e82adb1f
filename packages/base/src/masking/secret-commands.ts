// Secrets on command lines, and in configurations whose values follow a space. As in secret-tokens.ts, the time must stay
// linear in the length of a hostile line.

export interface TokenRule {
  /** A rule runs only on lines that contain one of these, in lower case. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  /** `$1` and so on: what stays. Left out: nothing. */
  readonly keep?: string;
}

export const commandRules: readonly TokenRule[] = [
  // Logins on command lines: curl -u, sshpass -p, ipmitool -P, mysql -p, openssl pass:.
  {
    hints: ['-u', '--user', '--proxy-user', 'creds'],
    pattern:
      /((?:\b(?:curl|wget|smbclient|etcdctl)\b[^\n]{0,300}?\s(?:-[uU][= ]{0,4}|--(?:proxy-)?user[= ]{1,4})|--(?:src-|dest-)?creds[= ]{1,4})["']?[\w.@\\+-]{1,128}[:%])[^\s"']{1,1024}/g,
    keep: '$1',
  },
  { hints: ['sshpass'], pattern: /(\bsshpass\s{1,4}-p\s{0,4})(?:"[^"]{0,512}"|'[^']{0,512}'|\S{1,512})/g, keep: '$1' },
  {
    hints: ['ipmi', 'redfish', 'racadm', 'bmc', 'fence_'],
    pattern:
      /((?:ipmitool|ipmiutil|ipmi-\w{1,16}|bmc-\w{1,16}|racadm|redfishtool|fence_\w{1,32})\b[^\n]{0,300}?\s-[pP]\s{0,4})(?:"[^"]{0,512}"|'[^']{0,512}'|[^\s-]\S{0,512})/g,
    keep: '$1',
  },
  {
    hints: ['mysql', 'mariadb'],
    pattern: /(\b(?:mysql\w{0,16}|mariadb\w{0,16}(?:-\w{1,16})?)\b[^\n]{0,300}?\s-p)[^\s-]\S{0,512}/g,
    keep: '$1',
  },
  { hints: ['pass:'], pattern: /((?:^|[\s"'=])pass:)\S{1,512}/g, keep: '$1' },
  // user:password@host:port without a scheme, as proxies take it. An image is name:tag@sha256:digest.
  {
    hints: ['@'],
    pattern: /((?<![\w/@.%+:-])[\w.%+-]{1,64}:)[^\s@/"':,]{2,256}(?=@(?!sha\d{3}:)[\w.-]{1,253}:\d)/g,
    keep: '$1',
  },
  // .pgpass: host:port:database:user:password.
  {
    hints: [':'],
    pattern:
      /^([+\-\s#;]{0,68}(?=[^\s:]{0,253}[g-zG-Z.*_-])[^\s:#]{1,253}:(?:\d{1,5}|\*):[^\s:]{1,128}:[^\s:]{1,128}:)\S{1,512}$/g,
    keep: '$1',
  },
  // Registry logins of Docker and npm.
  {
    hints: ['auth'],
    pattern:
      /((?:\\{0,3}["']auth\\{0,3}["']\s{0,8}:\s{0,8}\\{0,3}["']|:_auth\s{0,4}=\s{0,4}"?))[A-Za-z0-9+/_=-]{8,8192}/g,
    keep: '$1',
  },
  {
    hints: ['</'],
    pattern: /(<[\w.:-]{0,64}(?:[Pp]ass(?:wor|w)d|[Pp]assphrase|[Ss]ecret|[Tt]oken|[Aa]pi-?[Kk]ey)>)[^<]{1,1024}/g,
    keep: '$1',
  },
  // ipsec.secrets.
  {
    hints: ['psk ', 'xauth ', 'eap ', 'ntlm '],
    pattern: /(\b(?:PSK|XAUTH|EAP|NTLM)\s{1,8})(?:"[^"]{1,512}"|0[xs][\w+/=]{8,512})/g,
    keep: '$1',
  },
  {
    hints: [': rsa', ': ecdsa', ': pkcs', ': p12', ': pin'],
    pattern: /(:\s{1,8}(?:RSA|ECDSA|PKCS8|PKCS12|P12|PIN)\s{1,4}\S{1,256}\s{1,4})"[^"]{1,512}"/g,
    keep: '$1',
  },
  // Configurations whose values follow a space: netrc, LDAP, Redis, SNMP, keepalived, BIND, PPP, NTP.
  {
    hints: ['password ', 'passwd ', 'pass ', 'pw ', 'auth ', 'secret ', 'community', 'passphrase ', 'token '],
    pattern:
      /^([+\-\s#;]{0,68}(?:requirepass|masterauth|rootpw|bindpw|admin_pw|auth_pass|r[ow]community6?|sasl_passwd|ppp_secret)\s{1,16})(?!required|optional|sufficient|requisite|include|substack)[^\s=:{][^\n]{0,512}$/gi,
    keep: '$1',
  },
  // One value at the end of the line: otherwise these words start a sentence, and `Secret a/b: …` is about an object.
  {
    hints: ['secret ', 'passphrase ', 'token '],
    pattern:
      /^([+\-\s#;]{0,68}(?:secret|SECRET|passphrase|token|TOKEN)\s{1,16})(?:"[^"]{1,512}"|'[^']{1,512}'|[^\s=:{"'][^\s"']{0,512})(\s{0,16};?\s{0,16})$/g,
    keep: '$1',
  },
  {
    hints: ['password ', 'passwd '],
    pattern: /^([+\-\s#;]{0,68}(?:password|passwd)\s{1,16})[^\s=:{(][^\s(]{0,512}(\s{0,16};?\s{0,16})$/gi,
    keep: '$1',
  },
  {
    hints: ['login '],
    pattern: /(\blogin\s{1,16}\S{1,256}\s{1,16}password\s{1,16})(?:"[^"]{1,512}"|\S{1,512})/gi,
    keep: '$1',
  },
  { hints: ['createuser '], pattern: /(\bcreateUser\s{1,8}\S{1,64}\s{1,8})\S[^\n]{0,512}/g, keep: '$1' },
  // podman login -p, htpasswd -b, ipmitool user set password.
  {
    hints: ['login '],
    pattern:
      /((?:podman|docker|buildah|skopeo|nerdctl|crane|oras|helm|oc|az)(?:\s{1,4}registry)?(?:\s{1,4}-\S{1,64}){0,3}\s{1,4}login\b[^\n]{0,300}?\s-p[= ]{0,4})(?:"[^"]{1,512}"|'[^']{1,512}'|[^\s"'-]\S{0,512})/g,
    keep: '$1',
  },
  {
    hints: ['htpasswd '],
    pattern: /(\bhtpasswd\s{1,4}-\w{0,6}b\w{0,6}\s{1,4}(?:[^\s|]{1,256}\s{1,4}){1,2})[^\s|;&"']{1,512}/g,
    keep: '$1',
  },
  { hints: ['set password '], pattern: /(\bset\s+password\s{1,4}\d{1,3}\s{1,4})\S{1,256}/g, keep: '$1' },
  // A password that a shell passes on: `echo core:PASSWORD | chpasswd`.
  {
    hints: ['chpasswd', 'cryptsetup', 'kinit', 'stdin', 'secret create'],
    pattern:
      /(\b(?:echo|printf)\s{1,4}(?:-\w{1,3}\s{1,4}){0,2}(?:["']%s(?:\\n)?["']\s{1,4})?["']?(?:[\w.-]{1,32}:)?)[^\s"'|][^"'|\n]{0,512}(?=["']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?(?:chpasswd|cryptsetup|kinit|\w{2,16}\s[^|\n]{0,200}(?:-stdin|secret\screate)))/g,
    keep: '$1',
  },
  {
    hints: ['chpasswd'],
    pattern: /(\bchpasswd\b[^|\n<]{0,64}<<<\s{0,4}["']?[\w.-]{1,32}:)[^\s"']{1,512}/g,
    keep: '$1',
  },
  // SQL, PHP, ODBC.
  {
    hints: ["password '", 'password "', 'password `', 'passphrase ', 'identified by'],
    pattern: /(\b(?:password|passphrase|identified\s{1,4}by(?:\s{1,4}password)?)\s{1,4}(["'`]))[^"'`\n]{1,512}(?=\2)/gi,
    keep: '$1',
  },
  {
    hints: ['define('],
    pattern:
      /(\bdefine\(\s{0,4}["'][\w.-]{0,64}(?:pass|password|passwd|secret|token|key|salt)["']\s{0,4},\s{0,4}["'])[^"'\n]{1,512}/gi,
    keep: '$1',
  },
  { hints: ['pwd='], pattern: /(;\s{0,4}pwd=)[^\s;"']{1,512}/gi, keep: '$1' },
  // Kernel arguments of dracut: netroot=iscsi:USER:PASSWORD@HOST.
  { hints: ['iscsi:'], pattern: /(\biscsi:)[^\s@:]{1,256}:[^\s@]{1,512}(?=@)/g, keep: '$1' },
  // JSON Web Keys; the keys of Consul and Nomad; kubeadm's.
  {
    hints: ['"d"', '"p"', '"q"', '"dp"', '"dq"', '"qi"', '"k"'],
    pattern: /("(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}")[\w-]{22,2048}(?=")/g,
    keep: '$1',
  },
  {
    hints: ['encrypt'],
    pattern: /(\bencrypt["']?\s{0,4}[=:]\s{0,4}["'])[A-Za-z0-9+/]{22,44}={0,2}(?=["'])/g,
    keep: '$1',
  },
  { hints: ['certificate-key'], pattern: /(\bcertificate-key[= ]{1,4})[0-9a-f]{64}/g, keep: '$1' },
  // Keys in addresses.
  {
    hints: ['?key=', '&key='],
    pattern: /([?&]key=)(?=[^\s&"'<>]{0,256}\d)[^\s&"'<>]{16,1024}/g,
    keep: '$1',
  },
  // Routers on nodes, SNMP, Squid, Postfix.
  {
    hints: ['neighbor ', 'message-digest-key ', '-server key', 'password md5 ', 'password clear '],
    pattern:
      /(\b(?:neighbor\s{1,4}\S{1,64}\s{1,4}password|message-digest-key\s{1,4}\d{1,3}\s{1,4}md5|(?:tacacs|radius)-server\s{1,4}key|password\s{1,4}(?:md5|clear))\s{1,4}(?:\d\s{1,4})?)\S{1,256}/g,
    keep: '$1',
  },
  {
    hints: ['com2sec', 'sink '],
    pattern:
      /(\b(?:com2sec6?\s{1,16}\S{1,128}\s{1,16}|trap2?sink\s{1,16}|informsink\s{1,16})\S{1,253}\s{1,16})\S{1,128}/g,
    keep: '$1',
  },
  { hints: ['snmp'], pattern: /(\bsnmp\w{1,16}\s[^\n]{0,100}?-c\s{0,4})[^\s-]\S{0,128}/g, keep: '$1' },
  { hints: ['login='], pattern: /(\blogin=[\w.@\\-]{1,64}:)\S{1,256}/g, keep: '$1' },
  {
    hints: [']'],
    pattern: /^([+\-\s#;]{0,68}\[[\w-]{1,63}\.[\w.-]{1,253}\](?::\d{1,5})?\s{1,16}[^\s:]{1,128}:)\S{1,512}$/g,
    keep: '$1',
  },
  // `shared_key VALUE`, as in Fluentd: a name of several words.
  {
    hints: ['_password ', '_passwd ', '_secret ', '_token ', '_key ', '-password ', '-passwd ', '-secret ', '-token '],
    pattern:
      /^([+\-\s#;]{0,68}[a-z][\w.-]{0,64}?[_-](?:password|passwd|secret|token|(?:shared|access|secret|api|auth)_key)\s{1,16}|[+\-\s#;]{0,68}shared_key\s{1,16})(?!\/|\$|on\b|off\b|yes\b|no\b|true\b|false\b)[^\s=:{(\\]\S{0,512}(\s{0,16};?\s{0,16})$/gi,
    keep: '$1',
  },
  // In sentences: `the password is …`, `using password …`. Letters and digits: a word explains why a login failed.
  {
    hints: ['password ', 'passphrase ', 'token is', 'secret is'],
    pattern:
      /(\b(?:(?:password|passphrase|token|secret)\s{1,2}(?:is|was):?\s{1,2}|(?:password|passphrase)\s{1,2}))(?=[^\s\d]{0,512}\d)(?=[^\sA-Za-z]{0,512}[A-Za-z])[^\s,;:="'(/]{8,512}/gi,
    keep: '$1',
  },
];
