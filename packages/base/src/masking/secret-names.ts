// What a secret becomes, which names announce one, and which of their values are none.

export const HIDDEN = '(hidden)';

/** Keeps the indentation, by which a reader recognizes a block. */
export function hideLine(line: string): string {
  return line.trim() === '' ? line : line.slice(0, indentOf(line)) + HIDDEN;
}

/** Also counts the marks of comments, lists and lines of a diff. */
export function indentOf(line: string): number {
  return /^[+\-\s#;]*/.exec(line)?.[0].length ?? 0;
}

/** Ends of names, in lower case and without separators: `DB_PASSWORD`, `spring.datasource.password`, `clientSecret`. */
const SECRET_ENDINGS = [
  'password',
  'pgpasswd',
  'passphrase',
  'passcode',
  'passwordin',
  'passwordhash',
  'secret',
  'token',
  'apikey',
  'accesskey',
  'accesskeyid',
  'accountkey',
  'activationkey',
  'aeskey',
  'appkey',
  'authkey',
  'authtok',
  'consumerkey',
  'cryptkey',
  'encryptionkey',
  'hmackey',
  'licensekey',
  'masterkey',
  'presharedkey',
  'privatekey',
  'privatekeydata',
  'clientkeydata',
  'secretid',
  'secretkey',
  'secretkeybase',
  'servicekey',
  'sessionkey',
  'sharedaccesskey',
  'sharedaccesssignature',
  'sharedkey',
  'signingkey',
  'storagekey',
  'symmkey',
  'wepkey',
  'credential',
  'credentials',
  'psk',
  'pwd',
  'bindpw',
  'rootpw',
  'adminpw',
  'requirepass',
  'masterauth',
  'authorization',
  'cookie',
  'rocommunity',
  'rwcommunity',
] as const;

/** Secret only as a separate word: `smtp.pass` and `dbPasswd`, but not `bypass` and `chpasswd`. */
const SECRET_WORDS: ReadonlySet<string> = new Set(['pass', 'passwd', 'pw']);

/** systemd loads these credentials from a path, and shells keep their directory in PWD. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set([
  'PWD',
  'OLDPWD',
  'LoadCredential',
  'LoadCredentialEncrypted',
  'ImportCredential',
]);

export function isSecretName(name: string): boolean {
  if (HARMLESS_NAMES.has(name)) return false;
  // `wep_key0`, `password2`.
  const unnumbered = name.replace(/[-_.]?\d{1,3}$/, '');
  const joined = unnumbered.toLowerCase().replaceAll(/[-_.]/g, '');
  if (SECRET_ENDINGS.some((ending) => joined.endsWith(ending))) return true;
  const last = unnumbered.split(/[-_.]|(?<=[a-z])(?=[A-Z])/).at(-1) ?? '';
  return SECRET_WORDS.has(last.toLowerCase());
}

const HARMLESS_WORDS: ReadonlySet<string> = new Set([
  '',
  'true',
  'false',
  'yes',
  'no',
  'on',
  'off',
  'none',
  'null',
  'nil',
  'undefined',
  'required',
  'optional',
  'enabled',
  'disabled',
  'always',
  'never',
  'prompt',
  '~',
  '{',
  '[',
  '(',
  '{}',
  '[]',
  '""',
  "''",
  '*',
  'x',
  '!',
  '!!',
]);

/**
 * The name is a secret's, but the value is where it is: a path, or a reference to a variable. `$aB3x` is a password that
 * starts with a dollar sign.
 */
const REFERENCE =
  /^(?:\/(?:etc|var|run|usr|opt|home|root|tmp|srv|mnt|dev|proc|sys|boot|data|secrets?)\/[\w.@%{}/+-]{0,400}|\$\{[\w.-]{1,100}(?::[-?=+]?)?\}|\$(?:[A-Za-z_.:-]{1,60}|[A-Z_][A-Z0-9_]{0,60}|\d)|\$\([^()]{0,200}\)|\$\{\{[^{}]{0,200}\}\}|%[a-zA-Z](?:\/[\w./-]{0,200})?|%\([\w.]{1,100}\)s|\{\{[^{}]{0,200}\}\}|<[\w -]{1,60}>|\*{3,}|\[hidden\]|file:\/\/\S{0,400})$/;

/** The sources of nsswitch.conf: `passwd: files sss`. */
const NAME_SERVICES =
  /^(?:(?:files|sss|systemd|compat|ldap|nis|nisplus|db|dns|winbind|altfiles|myhostname)(?:\s+|$))+$/;

const MAX_HARMLESS_CHARS = 512;

/** `value` without quotes. */
export function isHarmlessValue(value: string): boolean {
  const text = value.trim();
  if (text.startsWith(HIDDEN)) return true;
  if (text.length > MAX_HARMLESS_CHARS) return false;
  return HARMLESS_WORDS.has(text.toLowerCase()) || REFERENCE.test(text) || NAME_SERVICES.test(text);
}
