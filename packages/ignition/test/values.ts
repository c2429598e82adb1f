import type { Kind } from '../src/spec/field.ts';
import { anyText, pieces, pools, type Values } from './pools.ts';
import { urls, webUrls } from './url-values.ts';

const hex = (length: number) => 'c0ffee00'.repeat(length / 8);
const GUID = '5D4B2F3A-1c2d-4E5F-8a9b-0123456789AB';

const PATHS = ['/a', '/a/b', '/a/b/c', '/b', '/b/c', '/d', '/d/e', '/etc/hosts', '/ü/ñ', '/x y', '/etc/a.conf'];
const UNIT_PATHS = ['/etc/systemd/system/a.service', '/etc/systemd/system/a.service.d/10-a.conf'];
const BAD_PATHS = [
  '',
  'a',
  '/',
  '/a/',
  '//',
  '//a',
  '/a//b',
  '/a/../b',
  '/./a',
  '.',
  '..',
  '/..',
  '/a/.',
  '/a/..',
  './a',
];
const paths = pools([...PATHS, ...UNIT_PATHS], BAD_PATHS, pieces('/', '.', '..', 'a', 'b', '\u0000', 'é'));
const devices = pools(['/dev/sda', '/dev/sdb', '/dev/vda', '/dev/disk/by-label/x'], ['', 'sda', '/dev/', '/dev//sda']);

const INSTALL = '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n';
const unitText = pools(
  ['[Unit]\nDescription=x\n', INSTALL, '', '# nothing\n[Unit]\nA=b \\\n  c\n', '[Unit]\nA=ü\n'],
  [
    '[',
    ']',
    '[]',
    '[Unit',
    '[Unit]',
    '[Unit]]',
    '[Unit] x',
    'x',
    '=x',
    'A=b',
    '[Unit]\nx',
    '[Unit]\n=x',
    '[Unit]\nA=',
    '[Unit]\\\n',
    '[Unit]\nA=b\\',
    '[Unit]\nA=b\\\n',
    '[Unit]\n[X',
    ' [Unit]\nA=b',
    '[Unit]\nA = b',
    '\n\n',
    '#',
    ';',
    '[Unit]\n#x\\\nA=b',
    '[Unit]\nA=b\\\n#c\nd',
    '[U\nnit]',
    '\ufeff[Unit]\nA=b',
    `[Unit]\nA=${'x'.repeat(2040)}\n`,
    `[Unit]\nA=${'x'.repeat(2050)}\n`,
    `[Unit]\nA=${'é'.repeat(1030)}`,
    `[${'x'.repeat(2049)}]\n`,
    '[Unit]\r\nA=b\r\n',
    '[Unit]\n\tA=b',
  ],
  pieces('[', ']', 'Unit', 'Install', '\n', '\n', '=', 'a', '\\', '\\\n', '#', ';', ' ', '\t', '\r', '\u0000', 'é'),
);

const labels = pools(
  ['ROOT', 'boot', 'var', ''],
  [
    ...[11, 12, 13, 15, 16, 17, 36, 37, 47, 48, 256, 257].flatMap((size) => ['x'.repeat(size), 'é'.repeat(size / 2)]),
    'a:b',
    ':',
  ],
);
const guids = pools(
  [GUID, GUID.toLowerCase()],
  ['', `${GUID}\n`, GUID.slice(1), `${GUID}0`, GUID.replace('5', 'g'), 'x', `{${GUID}}`],
);
const hashes = pools(
  [`sha512-${hex(128)}`],
  [
    `sha256-${hex(64)}`,
    `sha256-${hex(128)}`,
    `sha512-${hex(64)}`,
    'sha512',
    'sha512-',
    '-',
    '',
    `md5-${hex(32)}`,
    `SHA512-${hex(128)}`,
    `sha512-${'é'.repeat(64)}`,
    `sha512-${'z'.repeat(128)}`,
  ],
);
const jsonText = pools(
  ['{"payload":"x"}', ''],
  [
    '{',
    '[1',
    'null',
    '1',
    '1e',
    '01',
    '"\\ud800"',
    '{"a":1,}',
    ' 1 ',
    '1 2',
    '"\n"',
    'NaN',
    '\ufeff1',
    '{"a":1,"a":2}',
    '-',
    '1.',
    '.1',
    '"\\x"',
    'tru',
  ],
  pieces('{', '}', '[', ']', '"', ':', ',', '1', 'e', '-', '.', 'true', 'null', ' ', '\\u00e9'),
);

const flags = pools([true, false], []);
const texts = pools(['a', 'b', 'core', 'wheel', 'ünï', 'a b'], [''], anyText);
const ODD_NUMBERS = [-1, -0, 0.5, 2 ** 31, 2 ** 32, -(2 ** 31), 2 ** 53 - 1];
const numbers = (...good: number[]): Values => pools(good, ODD_NUMBERS);

const UNIT_NAMES = ['a.service', 'b.service', 'c.socket', 'a@.service', 'a@1.service', 'd-e.mount', 'f.timer'];
const BAD_UNIT_NAMES = [
  '',
  'a',
  '.service',
  'a.',
  'a.conf',
  'a.service/b',
  'a/b.service',
  'A.SERVICE',
  'ü.service',
  'a.service.d',
  '@.service',
  'a@b@c.service',
  'a@\n.service',
];
const unitPieces = pieces('a', '@', '.', 'service', 'conf', '/', '\n', 'é');

/** By the object's name and the key, if the key alone is ambiguous. */
const BY_TYPE: Record<string, Values> = {
  'unit.name': pools(UNIT_NAMES, BAD_UNIT_NAMES, unitPieces),
  'dropin.name': pools(['10-a.conf', '20-b.conf'], ['', 'a', '.conf', 'a.conf.', 'a/b.conf', 'a.CONF'], unitPieces),
  'networkdDropin.name': pools(['10-a.conf', '20-b.conf'], ['', 'a', '.conf']),
  'networkdUnit.name': pools(['a.network', 'b.link', 'c.netdev'], ['', 'a', 'a.service', 'a.NETWORK']),
  'unit.contents': unitText,
  'dropin.contents': unitText,
  'networkdDropin.contents': unitText,
  'networkdUnit.contents': unitText,
  'raid.name': pools(['md0', 'md1'], ['', 'a/b', 'ü']),
  'luks.name': pools(['root', 'data'], ['', 'a/b', '/']),
  'header.name': pools(['Accept', 'X-A', 'x-a'], ['']),
  'header.value': pools(['1', 'text/plain'], ['']),
  'filesystem.name': pools(['root'], ['', 'var', 'oem']),
  'tang.url': webUrls,
  'tang.thumbprint': pools(['abc', 'def'], ['']),
  'tang.advertisement': jsonText,
  'custom.pin': pools(['tpm2', 'tang', 'sss'], ['', 'x']),
  'verification.hash': hashes,
  'kernelArguments.shouldExist': pools(['quiet', 'a=b', 'c', 'ü'], ['', 'a=b']),
  'kernelArguments.shouldNotExist': pools(['quiet', 'a=b', 'c', 'd'], ['', 'a=b']),
  'timeouts.httpTotal': numbers(0, 10, 300),
};

const BY_KEY: Record<string, Values> = {
  path: paths,
  device: devices,
  devices,
  source: urls,
  compression: pools(['gzip', ''], ['xz', 'GZIP', 'gzip ']),
  mode: pools([0o644, 0o755, 0o600, 0, 0o777, 0o1777, 0o4755], [0o7777, 0o10000, ...ODD_NUMBERS]),
  number: numbers(0, 1, 2, 3, 4),
  sizeMiB: numbers(0, 1, 10, 100),
  startMiB: numbers(0, 1, 10, 50, 100),
  size: numbers(0, 2048, 4096),
  start: numbers(0, 2048, 4096, 8192),
  id: numbers(0, 500, 1000),
  uid: numbers(0, 500, 1000),
  gid: numbers(0, 500, 1000),
  spares: numbers(0, 1, 2),
  threshold: numbers(0, 1, 2),
  httpResponseHeaders: numbers(0, 5, 60),
  level: pools(
    ['raid1', 'raid0', '0', '10', 'linear', 'stripe', 'mirror', 'raid4', '5', 'raid6'],
    ['', 'raid2', 'RAID1', '7'],
  ),
  format: pools(['ext4', 'xfs', 'btrfs', 'swap', 'vfat'], ['', 'none', 'ext3', 'EXT4']),
  label: labels,
  guid: guids,
  typeGuid: guids,
  target: pools(
    ['/a', '/d', '../d', 'e', '/etc/hosts', '..'],
    ['', '.', '/', '//d', '/d/', './../d', '/x/../d'],
    pieces('/', '..', 'd', 'a', '.'),
  ),
  filesystem: pools(['root'], ['', 'var', 'oem', '/']),
  httpProxy: webUrls,
  httpsProxy: webUrls,
  shell: pools(['/bin/bash', '/sbin/nologin'], ['']),
  config: pools(['{}', '{"a":1}'], ['', '{']),
};

/** The values of the scalar `key` of an object that the spec tables call `name`. */
export function selectValues(name: string, key: string, type: Kind['type']): Values {
  if (type === 'bool') return flags;
  const named = BY_TYPE[`${name}.${key}`] ?? BY_KEY[key];
  if (named !== undefined) return named;
  return type === 'int' ? numbers(0, 1, 2) : texts;
}
