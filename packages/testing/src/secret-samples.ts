// Secrets of common kinds in the texts that people put them in. Generated, so that the repository contains nothing that
// looks like a secret to a scanner.
import { createRandom } from './random.ts';
import { base64, createDraw, type Make, password, token, within } from './secret-draw.ts';
import { kindsInManifests } from './secrets-in-manifests.ts';
import { kindsOnCommandLines } from './secrets-on-command-lines.ts';

export interface SecretSample {
  readonly kind: string;
  /** The contents of a file, a unit or a drop-in. */
  readonly text: string;
  /** What must not be seen anywhere. Of a long secret: parts of it. */
  readonly secrets: readonly string[];
}

/** PKCS#8 of RSA, and PKCS#1, by their first bytes. */
const PKCS8 = [0x30, 0x82, 0x02, 0x54, 0x02, 0x01, 0x00, 0x30, 0x0d];
const PKCS1 = [0x30, 0x82, 0x02, 0x54, 0x02, 0x01, 0x00, 0x02, 0x82];

const marker = (end: 'BEGIN' | 'END', label: string): string => `-----${end} ${label}-----`;

function makeKey(label: string, first: readonly number[], shape: (lines: readonly string[]) => string): Make {
  return (draw) => {
    const body = draw.pemLines(first);
    const lines = [marker('BEGIN', label), ...body, marker('END', label)];
    return { text: shape(lines), secrets: [0, 4, body.length - 2].map((at) => body[at] ?? '') };
  };
}

const unit = (lines: string): string => `[Unit]\nDescription=Shop\n\n[Service]\n${lines}\nExecStart=/usr/bin/shop\n`;

const kinds: Readonly<Record<string, Make>> = {
  'RSA key': makeKey('RSA PRIVATE KEY', PKCS1, (lines) => `${lines.join('\n')}\n`),
  'PKCS#8 key': makeKey('PRIVATE KEY', PKCS8, (lines) => `${lines.join('\n')}\n`),
  'EC key after its parameters': makeKey('EC PRIVATE KEY', PKCS8, (lines) => `# host key\n${lines.join('\n')}\nend\n`),
  'OpenSSH key': makeKey('OPENSSH PRIVATE KEY', [0x6f, 0x70], (lines) => `${lines.join('\n')}\n`),
  'encrypted key': makeKey('ENCRYPTED PRIVATE KEY', [0x30, 0x82], (lines) => `${lines.join('\n')}\n`),
  'PGP key': makeKey('PGP PRIVATE KEY BLOCK', [0x95], (lines) => `${lines.join('\n')}\n`),
  'key in a block of YAML': makeKey(
    'PRIVATE KEY',
    PKCS8,
    (lines) => `tls:\n  key: |\n${lines.map((line) => `    ${line}\n`).join('')}  port: 443\n`,
  ),
  'key in a list of INI': makeKey('PRIVATE KEY', PKCS8, (lines) => `[tls]\nkey = ${lines.join('\n  ')}\n`),
  'key in one line of JSON': makeKey('PRIVATE KEY', PKCS8, (lines) =>
    JSON.stringify({ type: 'x', pem: lines.join('\n') }),
  ),
  'key whose end is missing': makeKey('PRIVATE KEY', PKCS8, (lines) => lines.slice(0, -1).join('\n')),
  'key whose start is missing': makeKey('PRIVATE KEY', PKCS8, (lines) => lines.slice(1).join('\n')),
  'service account of Google': makeKey('PRIVATE KEY', PKCS8, (lines) =>
    JSON.stringify(
      { type: 'service_account', private_key: `${lines.join('\n')}\n`, client_email: 'a@b.example' },
      null,
      2,
    ),
  ),
  'TLS key in base64': (draw) => {
    const pem = [marker('BEGIN', 'PRIVATE KEY'), ...draw.pemLines(PKCS8), marker('END', 'PRIVATE KEY')].join('\n');
    return { text: `kind: Secret\ndata:\n  tls.key: ${base64(pem)}\n`, secrets: [base64(pem).slice(60, 120)] };
  },
  'TLS key in wrapped base64': (draw) => {
    const pem = [marker('BEGIN', 'PRIVATE KEY'), ...draw.pemLines(PKCS8), marker('END', 'PRIVATE KEY')].join('\n');
    const lines = base64(pem).match(/.{1,76}/g) ?? [];
    return { text: `${lines.join('\n')}\n`, secrets: [lines[2] ?? '', lines[5] ?? ''] };
  },
  'key in DER without PEM': (draw) => {
    const body = draw.pemLines(PKCS8).join('');
    return { text: `key = ${body}\n`, secrets: [body.slice(100, 160)] };
  },
  'PuTTY key': (draw) => {
    const body = draw.pemLines([0x00]);
    const text = `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: ${body.length}\n${body.join('\n')}\nPrivate-MAC: x\n`;
    return { text, secrets: [body[3] ?? ''] };
  },
  'URL with a password': password(
    (secret) => `origin = https://deploy:${encodeURIComponent(secret)}@git.example.com/shop.git\n`,
  ),
  'URL with a password that is not encoded': within(
    (draw) => `${draw.word(6)}@${draw.word(6)}`,
    (secret) => `url: amqp://shop:${secret}@mq.example.com:5672/vhost\n`,
  ),
  'URL with a token as the user': token(40, (secret) => `url = https://${secret}@git.example.com/shop.git\n`),
  'database URL': password(
    (secret) => `DATABASE_URL=postgres://shop:${encodeURIComponent(secret)}@db.example.com:5432/shop\n`,
  ),
  'proxy in an environment file': password(
    (secret) =>
      `HTTP_PROXY=http://proxy:${encodeURIComponent(secret)}@proxy.example.com:3128\nNO_PROXY=.cluster.local\n`,
  ),
  'proxy in a unit': password((secret) =>
    unit(`Environment="HTTPS_PROXY=http://proxy:${encodeURIComponent(secret)}@proxy.example.com:3128" "NO_PROXY=.svc"`),
  ),
  'proxy without a scheme': token(14, (secret) => `proxy = shop:${secret}@proxy.example.com:3128\n`),
  'proxy of dnf': password(
    (secret) => `proxy=http://proxy.example.com:3128\nproxy_username=shop\nproxy_password=${secret}\n`,
  ),
  'password in an environment file': password((secret) => `DB_HOST=db\nDB_PASSWORD=${secret}\n`),
  'exported password': password((secret) => `export PGPASSWORD='${secret}'\npsql\n`),
  'password with spaces': within(
    (draw) => `${draw.word(6)} ${draw.word(6)} ${draw.word(6)}`,
    (secret) => `[db]\npassword = ${secret}\nport = 5432\n`,
  ),
  'password in quotes': password((secret) => `db_pass="${secret}"\n`),
  'password of a unit': password((secret) => unit(`Environment=DB_PASSWORD=${secret}`)),
  'quoted password of a unit': within(
    (draw) => `${draw.word(8)} ${draw.word(8)}`,
    (secret) => unit(`Environment="MODE=a" "SMTP_PASSWORD=${secret}" "X=y"`),
  ),
  'continued environment of a unit': token(20, (secret) => unit(`Environment=MODE=a \\\n  API_KEY=${secret}`)),
  'token on a command line': token(
    24,
    (secret) => `[Service]\nExecStart=/usr/bin/agent --url https://hub.example.com --token=${secret} --verbose\n`,
  ),
  'token after a space': token(24, (secret) => `[Service]\nExecStart=/usr/bin/agent --token ${secret} --verbose\n`),
  'password after a quote': password((secret) => `[Service]\nExecStart=/usr/bin/agent --password "${secret}" -v\n`),
  'token on the next line of a command': token(
    24,
    (secret) => `[Service]\nExecStart=/usr/bin/agent \\\n  --api-token \\\n  ${secret} \\\n  --verbose\n`,
  ),
  'token in arguments of YAML': token(24, (secret) => `args:\n  - --client-secret\n  - ${secret}\n  - --verbose\n`),
  'token in arguments of JSON': token(24, (secret) => `{"args":["--auth-token","${secret}","-v"]}\n`),
  'SetCredential of a unit': password((secret) => unit(`SetCredential=db:${secret}`)),
  'password in YAML': password((secret) => `db:\n  user: shop\n  password: ${secret}\n`),
  'quoted password in YAML': password((secret) => `db: {user: shop, password: "${secret}"}\n`),
  'block in YAML': within(
    (draw) => draw.word(30),
    (secret) => `auth:\n  clientSecret: >-\n    ${secret}\n  scope: all\n`,
  ),
  'value on the next line of YAML': token(24, (secret) => `bot:\n  token:\n    ${secret}\n  name: x\n`),
  'password of several lines': (draw) => {
    const [one, two] = [draw.word(20), draw.word(20)];
    return { text: `passphrase: "${one}\n  ${two}"\nport: 1\n`, secrets: [one, two] };
  },
  'string of several lines in TOML': (draw) => {
    const [one, two] = [draw.word(20), draw.word(20)];
    return { text: `[a]\nsecret_key = """\n${one}\n${two}\n"""\nport = 1\n`, secrets: [one, two] };
  },
  'password in JSON': password((secret) => JSON.stringify({ user: 'shop', password: secret, port: 1 })),
  'password in JSON in JSON': password((secret) =>
    JSON.stringify({ body: JSON.stringify({ userPassword: secret, a: 1 }) }),
  ),
  'number as a password in JSON': within(
    (draw) => draw.digits(12),
    (secret) => `{"adminPassword":${secret},"port":1}\n`,
  ),
  'password in TOML': password((secret) => `[registry]\nusername = "shop"\npassword = "${secret}"\n`),
  'password in properties': password((secret) => `spring.datasource.password=${secret}\n`),
  'password in XML': password((secret) => `<server><username>shop</username><password>${secret}</password></server>\n`),
  'password in a connection string': password(
    (secret) => `ConnectionString=Server=db;Database=shop;User Id=shop;Password=${secret};Encrypt=true\n`,
  ),
  'password in mount options': token(
    16,
    (secret) => `//nas/share /mnt cifs username=shop,password=${secret},uid=0 0 0\n`,
  ),
  'cookie in a header': token(32, (secret) => `Set-Cookie: session=${secret}; Path=/\n`),
  'bearer token': token(40, (secret) => `curl -H "Authorization: Bearer ${secret}" https://api.example.com\n`),
  'bearer token in a log': token(40, (secret) => `Nov 18 15:00:00 node shop[12]: sent Bearer ${secret} to api\n`),
  'basic login in a header': within(
    (draw) => base64(`shop:${draw.password()}`),
    (secret) => `proxy_set_header Authorization "Basic ${secret}";\n`,
  ),
  'API key in a header': token(32, (secret) => `headers:\n  X-Api-Key: ${secret}\n`),
  'JSON Web Token': within(
    (draw) => `${base64('{"alg":"RS256","kid":"a"}').replaceAll('=', '')}.${draw.word(80)}.${draw.word(60)}`,
    (secret) => `echo ${secret} > /tmp/x\n`,
  ),
  'key ID of AWS': within(
    (draw) => `AKIA${draw.upper(16)}`,
    (secret) => `aws configure set x ${secret}\n`,
  ),
  'secret key of AWS': within(
    (draw) => draw.base64(30),
    (secret, draw) => `[default]\naws_access_key_id = AKIA${draw.upper(16)}\naws_secret_access_key = ${secret}\n`,
  ),
  'session token of AWS': within(
    (draw) => draw.base64(120),
    (secret) => `AWS_SESSION_TOKEN=${secret}\n`,
  ),
  'signed URL of AWS': within(
    (draw) => draw.hex(64),
    (secret) => `source: https://s3.example.com/a?X-Amz-Expires=60&X-Amz-Signature=${secret}\n`,
  ),
  'account key of Azure': within(
    (draw) => draw.base64(64),
    (secret) =>
      `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${secret};EndpointSuffix=core.windows.net\n`,
  ),
  'signature of Azure': within(
    (draw) => encodeURIComponent(draw.base64(32)),
    (secret) => `https://shop.blob.core.windows.net/a?sv=2024-01-01&se=2030-01-01&sig=${secret}&sp=r\n`,
  ),
  'client secret of Azure': within(
    (draw) => `${draw.word(3)}8Q~${draw.word(34)}`,
    (secret) => `az login --service-principal -x ${secret}\n`,
  ),
  'service bus of Azure': within(
    (draw) => draw.base64(32),
    (secret) => `Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey=${secret}\n`,
  ),
  'API key of Google': within(
    (draw) => `AIza${draw.word(35)}`,
    (secret) => `maps: ${secret}\n`,
  ),
  'token of GitHub': within(
    (draw) => `ghp_${draw.word(36)}`,
    (secret) => `git clone with ${secret}\n`,
  ),
  'fine-grained token of GitHub': within(
    (draw) => `github_pat_${draw.word(60)}`,
    (secret) => `# ${secret}\n`,
  ),
  'token of GitLab': within(
    (draw) => `glpat-${draw.word(20)}`,
    (secret) => `gitlab: ${secret}\n`,
  ),
  'token of Slack': within(
    (draw) => `xoxb-${draw.digits(12)}-${draw.word(24)}`,
    (secret) => `slack ${secret}\n`,
  ),
  'webhook of Slack': within(
    (draw) => `T${draw.upper(8)}/B${draw.upper(8)}/${draw.word(24)}`,
    (secret) => `url: https://hooks.slack.com/services/${secret}\n`,
  ),
  'token of npm': within(
    (draw) => `npm_${draw.word(36)}`,
    (secret) => `//registry.npmjs.org/:_authToken=${secret}\n`,
  ),
  'login of npm': within(
    (draw) => base64(`shop:${draw.password()}`),
    (secret) => `//npm.example.com/:_auth=${secret}\n`,
  ),
  'token of OpenShift': within(
    (draw) => `sha256~${draw.word(43)}`,
    (secret) => `oc login ${secret}\n`,
  ),
  'token of Vault': within(
    (draw) => `hvs.${draw.word(90)}`,
    (secret) => `vault ${secret}\n`,
  ),
  'key of Stripe': within(
    (draw) => `sk_live_${draw.word(24)}`,
    (secret) => `stripe: ${secret}\n`,
  ),
  'token of Docker Hub': within(
    (draw) => `dckr_pat_${draw.word(27)}`,
    (secret) => `hub ${secret}\n`,
  ),
  'token of a kubeconfig': within(
    (draw) => draw.word(60),
    (secret) => `users:\n- name: a\n  user:\n    token: ${secret}\n`,
  ),
  'key of a kubeconfig': within(
    (draw) => draw.base64(300),
    (secret) => `users:\n- name: a\n  user:\n    client-certificate-data: QQ==\n    client-key-data: ${secret}\n`,
  ),
  'kubeconfig in base64': (draw) => {
    const text = base64(`apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: ${draw.word(60)}\n`);
    return { text: `data:\n  kubeconfig: ${text}\n`, secrets: [text.slice(90, 150)] };
  },
  'bootstrap token of Kubernetes': within(
    (draw) => `${draw.lower(6)}.${draw.lower(16)}`,
    (secret) => `kubeadm join 10.0.0.1:6443 with ${secret}\n`,
  ),
  'login of a registry': within(
    (draw) => base64(`shop:${draw.password()}`),
    (secret) => JSON.stringify({ auths: { 'quay.io': { auth: secret, email: '' } } }),
  ),
  'login of a registry in base64': (draw) => {
    const text = base64(
      JSON.stringify({ auths: { 'quay.example.com': { auth: base64(`shop:${draw.password(20)}`) } } }),
    );
    return { text: `.dockerconfigjson: ${text}\n`, secrets: [text.slice(40, 90)] };
  },
  'identity token of a registry': token(60, (secret) =>
    JSON.stringify({ auths: { a: { identitytoken: secret } } }, null, 2),
  ),
  'login on a command line': password((secret) => `skopeo copy --src-creds shop:${secret} docker://a docker://b\n`),
  'login of curl': password((secret) => `ExecStart=/usr/bin/curl -fsS -u shop:${secret} https://repo.example.com/a\n`),
  'data URL in a source': password((secret) => `source: data:,DB_PASSWORD%3D${encodeURIComponent(secret)}%0A\n`),
  'data URL in base64': (draw) => {
    const text = base64(`DB_HOST=db.example.com\nDB_PASSWORD=${draw.word(40)}\n`);
    return { text: `source: data:text/plain;base64,${text}\n`, secrets: [text.slice(48, 80)] };
  },
  'SHA-512 crypt hash': within(
    (draw) => `$6$${draw.word(16)}$${draw.word(86)}`,
    (secret) => `core:${secret}:19000:0:99999:7:::\n`,
  ),
  'yescrypt hash': within(
    (draw) => `$y$j9T$${draw.word(22)}$${draw.word(43)}`,
    (secret) => `echo 'core:${secret}' | chpasswd -e\n`,
  ),
  'bcrypt hash': within(
    (draw) => `$2y$10$${draw.word(53)}`,
    (secret) => `shop:${secret}\n`,
  ),
  'Apache hash': within(
    (draw) => `$apr1$${draw.word(8)}$${draw.word(22)}`,
    (secret) => `shop:${secret}\n`,
  ),
  'LDAP hash': within(
    (draw) => draw.base64(24),
    (secret) => `userPassword: {SSHA}${secret}\n`,
  ),
  'GRUB hash': within(
    (draw) => `${draw.hex(128).toUpperCase()}.${draw.hex(128).toUpperCase()}`,
    (secret) => `GRUB2_PASSWORD=grub.pbkdf2.sha512.10000.${secret}\n`,
  ),
  'key of WireGuard': within(
    (draw) => draw.base64(32),
    (secret) => `[Interface]\nPrivateKey = ${secret}\nListenPort = 51820\n`,
  ),
  'shared key of WireGuard': within(
    (draw) => draw.base64(32),
    (secret) => `[Peer]\nPresharedKey=${secret}\nAllowedIPs = 10.0.0.0/8\n`,
  ),
  'netrc in one line': password((secret) => `machine git.example.com login shop password ${secret}\n`),
  'netrc in several lines': password((secret) => `machine git.example.com\n  login shop\n  password ${secret}\n`),
  pgpass: token(16, (secret) => `db.example.com:5432:shop:shop:${secret}\n`),
  'CHAP of iSCSI': password(
    (secret) =>
      `node.session.auth.username = shop\nnode.session.auth.password = ${secret}\nnode.session.auth.password_in = ${secret}\n`,
  ),
  'iSCSI in kernel arguments': token(
    16,
    (secret) => `BOOT: quiet rd.iscsi.username=a rd.iscsi.password=${secret} nosmt\n`,
  ),
  'login of a BMC': password(
    (secret) => `ExecStart=/usr/bin/ipmitool -I lanplus -H 10.0.0.9 -U admin -P ${secret} power status\n`,
  ),
  'BMC in an environment': password((secret) => `IPMI_USER=admin\nIPMI_PASSWORD=${secret}\n`),
  'passphrase of LUKS': password((secret) => `luks:\n  passphrase: ${secret}\n`),
  sshpass: password((secret) => `sshpass -p '${secret}' ssh core@node\n`),
  'password of mysql': token(16, (secret) => `mysqldump -h db -u shop -p${secret} shop > /tmp/a\n`),
  'password of Redis': token(20, (secret) => `port 6379\nrequirepass ${secret}\n`),
  'password of LDAP': token(20, (secret) => `binddn cn=a\nbindpw ${secret}\n`),
  'password of keepalived': token(8, (secret) => `authentication {\n    auth_type PASS\n    auth_pass ${secret}\n}\n`),
  'password of Wi-Fi': password((secret) => `network={\n  ssid="shop"\n  psk="${secret}"\n}\n`),
  'community of SNMP': token(16, (secret) => `rocommunity ${secret} 10.0.0.0/8\n`),
  'key of BIND': within(
    (draw) => draw.base64(32),
    (secret) => `key "a" {\n  algorithm hmac-sha256;\n  secret "${secret}";\n};\n`,
  ),
  'key of IPsec': token(24, (secret) => `10.0.0.1 10.0.0.2 : PSK "${secret}"\n`),
  'file in a string of JSON': (draw) => {
    const [hub, join, hash] = [`ghp_${draw.word(36)}`, `${draw.lower(6)}.${draw.lower(16)}`, draw.word(43)];
    const config = base64(`apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: ${draw.word(60)}\n`);
    const contents = `# shop\n${hub}\n${join}\nsha256~${hash}\n${config}\nport=1\n`;
    return { text: JSON.stringify({ contents }), secrets: [hub, join, hash, config.slice(90, 150)] };
  },
  'lines of Windows': password((secret) => `[db]\r\npassword=${secret}\r\nport=1\r\n`),
  'line of a diff': password((secret) => `-DB_PASSWORD=old${secret}\n+DB_PASSWORD=${secret}\n`),
};

/** '' if the text contains no part of the secret. */
export const describeLeak = ({ kind, secrets }: SecretSample, text: string): string =>
  secrets.some((secret) => text.includes(secret)) ? `${kind}: ${text}` : '';

/** The same samples for the same seed: every kind, then again with other values. */
export function sampleSecrets(count: number, seed: number): SecretSample[] {
  const draw = createDraw(createRandom(seed));
  const makes = Object.entries({ ...kinds, ...kindsInManifests, ...kindsOnCommandLines });
  return Array.from({ length: count }, (_, index) => {
    const [kind, make] = makes[index % makes.length] ?? ['', kinds['RSA key'] ?? fail()];
    return { kind, ...make(draw) };
  });
}

function fail(): never {
  throw new Error('there is a kind');
}
