// Secrets that are recognized by their own form, wherever they are in a line. Every quantifier that can follow another
// one is bounded or starts at a fixed text: the time must stay linear in the length of a hostile line. A token may follow
// the `\n` of a string of JSON, where its first letter is not at the start of a word.
import { commandRules, type TokenRule } from './secret-commands.ts';
import { HIDDEN, isHarmlessValue } from './secret-names.ts';

const RULES: readonly TokenRule[] = [
  // JSON Web Tokens; the signature may be empty.
  { hints: ['eyj'], pattern: /(?:(?<=\\[nrt])|(?<![\w-]))eyJ[\w-]{8,8192}\.[\w-]{8,16384}(?:\.[\w-]{0,8192}){0,3}/g },
  {
    hints: ['bearer ', 'basic ', 'negotiate ', 'token ', 'apikey '],
    pattern:
      /(?:(?<=\\[nrt])|\b)([Bb]earer|BEARER|[Bb]asic|BASIC|[Nn]egotiate|ApiKey)(\s{1,8})(?=[\w.~+/=:-]{0,64}[\d=._+/A-Z])[\w.~+/=:-]{8,16384}/g,
    keep: '$1$2',
  },
  // AWS access key IDs, alone or as ID:SECRET.
  {
    hints: ['akia', 'asia', 'aroa', 'abia'],
    pattern: /(?:(?<=\\[nrt])|\b)(?:AKIA|ASIA|AROA|ABIA)[A-Z0-9]{16}\b(?::[A-Za-z0-9+/]{40})?/g,
  },
  // GitHub, GitLab, npm, PyPI, Docker Hub, Hugging Face, DigitalOcean, Shopify, Grafana, Postman, RubyGems.
  {
    hints: [
      'ghp_',
      'gho_',
      'ghu_',
      'ghs_',
      'ghr_',
      'github_pat_',
      'glpat-',
      'gldt-',
      'glrt-',
      'glft-',
      'glsoat-',
      'glptt-',
      'glcbt-',
      'glagent-',
      'glimt-',
      'glsa_',
      'npm_',
      'pypi-',
      'dckr_',
      'hf_',
      '_v1_',
      'shpat_',
      'shpca_',
      'shppa_',
      'shpss_',
      'pmak-',
      'rubygems_',
      'nrak-',
      'figd_',
      'lin_api_',
    ],
    pattern:
      /(?:(?<=\\[nrt])|\b)(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|gl(?:pat|dt|rt|ft|soat|ptt|cbt|agent|imt)-[\w.-]{16,255}|glsa_\w{20,255}|npm_[A-Za-z0-9]{30,255}|pypi-[\w-]{30,1024}|dckr_(?:pat|oat)_[\w-]{20,255}|hf_[A-Za-z0-9]{20,255}|do[opr]_v1_[0-9a-f]{40,255}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,255}|PMAK-[0-9a-f-]{30,255}|rubygems_[0-9a-f]{30,255}|NRAK-[A-Z0-9]{20,255}|figd_[\w-]{20,255}|lin_api_\w{20,255})/g,
  },
  // Slack, with its webhooks.
  { hints: ['xox', 'xapp-'], pattern: /(?:(?<=\\[nrt])|\b)(?:xox[a-z]|xapp)-[\w.-]{10,1024}/g },
  {
    hints: ['hooks.slack.com', 'webhook.office.com', '/api/webhooks/'],
    pattern:
      /((?:hooks\.slack\.com\/(?:services|workflows)|webhook\.office\.com\/webhookb2|\/api\/webhooks)\/)[^\s"'<>]{8,1024}/g,
    keep: '$1',
  },
  // OpenAI and Anthropic, Stripe, SendGrid, Databricks.
  {
    hints: ['sk-', 'sk_', 'rk_', 'sg.', 'dapi', 'whsec_'],
    pattern:
      /(?:(?<=\\[nrt])|\b)(?:sk-[\w-]{20,255}|[sr]k_(?:live|test)_\w{10,255}|whsec_[\w+/=]{20,255}|SG\.[\w-]{16,64}\.[\w-]{16,128}|dapi[0-9a-f]{32})/g,
  },
  // In an address of Telegram it follows `bot`.
  { hints: [':aa'], pattern: /((?<![\w-])(?:bot)?)\d{8,10}:AA[\w-]{33}/g, keep: '$1' },
  // Ceph, and the server tokens of k3s.
  { hints: ['=='], pattern: /(?<![\w+/])AQ[A-Za-z0-9+/]{36}==/g },
  { hints: ['k10'], pattern: /\bK10[0-9a-f]{64}::\S{1,256}/g },
  // Google.
  {
    hints: ['aiza', 'ya29.', 'gocspx-', '1//0'],
    pattern: /(?:(?<=\\[nrt])|\b)(?:AIza[\w-]{35}|ya29\.[\w-]{20,2048}|GOCSPX-[\w-]{20,64}|1\/\/0[\w-]{30,512})/g,
  },
  // OpenShift, Vault, HashiCorp Cloud, Tailscale, age, Atlassian, Doppler, Kubernetes bootstrap tokens.
  {
    hints: ['sha256~', 'hvs.', 'hvb.', 'hvr.', 's.', 'atlasv1.', 'tskey-', 'age-secret-key-', 'atatt3x', 'dp.'],
    pattern:
      /(?:(?<=\\[nrt])|(?<![\w.-]))(?:sha256~[\w-]{40,64}|hv[sbr]\.[\w-]{20,512}|s\.[A-Za-z0-9]{24}\b|\w{14}\.atlasv1\.[\w-]{50,128}|tskey-[a-z]{2,12}-[\w-]{10,128}|AGE-SECRET-KEY-1[A-Z0-9]{20,128}|ATATT3x[\w=-]{30,512}|dp\.(?:pt|st|ct|sa)\.[\w.]{30,128})/g,
  },
  {
    hints: ['.'],
    pattern:
      /(?:(?<=\\[nrt])|(?<![\w.@/\\-]))[a-z0-9]{6}\.(?=[a-z]{0,15}\d)(?=\d{0,15}[a-z])[a-z0-9]{16}(?![\w-]|\.\w)/g,
  },
  // Password hashes: crypt(3), LDAP, Django, GRUB.
  {
    hints: ['$'],
    pattern: /\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1|apr1|argon2(?:id?|d)|scrypt|pbkdf2[\w-]{0,16})\$[\w./$=,+*-]{8,512}/g,
  },
  {
    hints: ['}'],
    pattern: /(\{(?:S?SHA(?:\d{3})?|S?MD5|CRYPT|PBKDF2[\w-]{0,16}|ARGON2)\})[\w+/=.$-]{8,512}/g,
    keep: '$1',
  },
  {
    hints: ['pbkdf2'],
    pattern:
      /(?:(?<=\\[nrt])|\b)(?:grub\.pbkdf2\.sha512\.\d{1,9}\.[0-9A-F.]{32,1024}|pbkdf2_sha(?:1|256|512)\$[\w$+/=.-]{16,512})/g,
  },
  // Azure client secrets, and the signatures of signed URLs of Azure, AWS and Google.
  { hints: ['q~'], pattern: /(?:(?<=\\[nrt])|(?<![\w~.\\-]))[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~.-])/g },
  {
    hints: ['sig=', 'signature=', 'x-amz-', 'x-goog-'],
    pattern:
      /([?&;](?:sig|Signature|X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential))=)[^\s&"'<>]{1,4096}/gi,
    keep: '$1',
  },
  ...commandRules,
];

/** Most lines have no hint of several characters: one test instead of a hundred. */
const [RARE, COMMON] = [
  RULES.filter(({ hints }) => hints.every((hint) => hint.length > 2)),
  RULES.filter(({ hints }) => hints.some((hint) => hint.length <= 2)),
];
const RARE_HINT = new RegExp(RARE.flatMap(({ hints }) => hints.map((hint) => RegExp.escape(hint))).join('|'));

/** Hides the tokens of one line. */
export function maskTokens(line: string): string {
  // Hints contain spaces where a pattern takes tabs too.
  const lower = line.toLowerCase().replaceAll('\t', ' ');
  let masked = line;
  for (const { hints, pattern, keep = '' } of RARE_HINT.test(lower) ? RULES : COMMON) {
    if (hints.some((hint) => lower.includes(hint))) masked = masked.replaceAll(pattern, `${keep}${HIDDEN}`);
  }
  return masked.includes('://') ? maskUrls(masked) : masked;
}

const END_OF_URL = /[\s"'<>`]/;
const MAX_URL = 1024;

/** `scheme://user:password@` becomes `scheme://user:(hidden)@`. A user name without a password stays, unless it is a token. */
function maskUrls(line: string): string {
  let masked = '';
  let from = 0;
  for (let at = line.indexOf('://'); at !== -1; at = line.indexOf('://', from)) {
    const start = at + 3;
    const rest = line.slice(start, start + MAX_URL);
    const end = rest.search(END_OF_URL);
    const url = end === -1 ? rest : rest.slice(0, end);
    const userinfo = readUserinfo(url);
    masked += line.slice(from, start) + maskUserinfo(userinfo);
    from = start + userinfo.length;
  }
  return masked + line.slice(from);
}

/** A password may contain characters that should have been encoded: then it ends at the last @. */
function readUserinfo(url: string): string {
  const slash = url.search(/[/?#]/);
  const authority = slash === -1 ? url : url.slice(0, slash);
  const at = authority.lastIndexOf('@');
  if (at !== -1) return authority.slice(0, at);
  const isPort = /^[^:]*(?::\d{0,5})?$/.test(authority);
  return isPort || authority.startsWith('[') ? '' : url.slice(0, Math.max(0, url.lastIndexOf('@')));
}

const MIN_TOKEN_IN_USER = 20;

function maskUserinfo(userinfo: string): string {
  const colon = userinfo.indexOf(':');
  if (colon === -1) return userinfo.length >= MIN_TOKEN_IN_USER && /\d/.test(userinfo) ? HIDDEN : userinfo;
  const password = userinfo.slice(colon + 1);
  return isHarmlessValue(password) || password.startsWith('$(') ? userinfo : `${userinfo.slice(0, colon + 1)}${HIDDEN}`;
}
