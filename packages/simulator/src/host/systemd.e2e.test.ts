// Compares the simulated systemd with the real program: with the same disk and orders, both must leave the same links
// and report the same for every unit.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createDisk, ownOwners } from '@slipway/daemon/host';
import { type IgnitionClient, resolveDebianIgnition } from '@slipway/tools/ignition-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSimulatedSystemd } from './systemd.ts';

const run = promisify(execFile);

type Verb = 'enable' | 'disable' | 'preset';
interface Case {
  readonly promise: string;
  /** Path → text. `→ target` is a link. */
  readonly disk: Readonly<Record<string, string>>;
  readonly orders: readonly (readonly [Verb, ...string[]])[];
  /** The result differs on purpose: the interface specifies that these do nothing. */
  readonly lenient?: boolean;
}

const ETC = '/etc/systemd/system';
const LIB = '/usr/lib/systemd/system';
const PRESETS = '/usr/lib/systemd/system-preset';
const unit = (install: string) => `[Service]\nExecStart=/usr/bin/true\n\n[Install]\n${install}\n`;
const PLAIN = '[Service]\nExecStart=/usr/bin/true\n';

const cases: readonly Case[] = [
  {
    promise: 'WantedBy of a unit of the OS',
    disk: { [`${LIB}/a.service`]: unit('WantedBy=multi-user.target') },
    orders: [
      ['enable', 'a.service'],
      ['enable', 'a.service'],
      ['disable', 'a.service'],
      ['disable', 'a.service'],
    ],
  },
  {
    promise: 'RequiredBy, several targets, and another name',
    disk: {
      [`${ETC}/a.service`]: unit('WantedBy=x.target y.target\nWantedBy=z.target\nRequiredBy=r.target\nAlias=b.service'),
    },
    orders: [
      ['enable', 'a.service'],
      ['disable', 'a.service'],
    ],
  },
  {
    promise: 'a unit with one of its links is enabled, and gets the others',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target y.target\nAlias=b.service'),
      [`${ETC}/x.target.wants/a.service`]: `→ ${LIB}/a.service`,
    },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'an empty value takes back what came before',
    disk: {
      [`${ETC}/a.service`]: unit('WantedBy=x.target'),
      [`${ETC}/a.service.d/10-more.conf`]: '[Install]\nWantedBy=\nWantedBy=y.target\n',
    },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'a drop-in supplies [Install], but not one for several units',
    disk: {
      [`${LIB}/a.service`]: PLAIN,
      [`${LIB}/a.service.d/10.conf`]: '[Install]\nWantedBy=x.target\n',
      [`${LIB}/b-c.service`]: PLAIN,
      [`${ETC}/b-.service.d/10.conf`]: '[Install]\nWantedBy=y.target\n',
      [`${ETC}/service.d/20.conf`]: '[Install]\nWantedBy=z.target\n',
    },
    orders: [
      ['enable', 'a.service', 'b-c.service'],
      ['disable', 'b-c.service'],
    ],
  },
  {
    promise: 'a drop-in of the same name counts once, from the first directory',
    disk: {
      [`${LIB}/a.service`]: PLAIN,
      [`${LIB}/a.service.d/10.conf`]: '[Install]\nWantedBy=x.target\n',
      [`${ETC}/a.service.d/10.conf`]: '[Install]\nWantedBy=y.target\n',
    },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'a unit without [Install] is not linked',
    disk: { [`${LIB}/a.service`]: PLAIN },
    orders: [
      ['enable', 'a.service'],
      ['disable', 'a.service'],
    ],
  },
  {
    promise: 'none of several is enabled if one is missing',
    disk: { [`${LIB}/a.service`]: unit('WantedBy=x.target') },
    orders: [['enable', 'a.service', 'missing.service']],
  },
  {
    promise: 'none of several is enabled if one is masked',
    disk: { [`${LIB}/a.service`]: unit('WantedBy=x.target'), [`${ETC}/m.service`]: '→ /dev/null' },
    orders: [
      ['enable', 'a.service', 'm.service'],
      ['disable', 'm.service'],
    ],
  },
  {
    promise: 'an empty file is a mask',
    disk: { [`${LIB}/a.service`]: unit('WantedBy=x.target'), [`${ETC}/a.service`]: '' },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'a drop-in without a unit is no unit',
    disk: { [`${ETC}/a.service.d/10.conf`]: '[Install]\nWantedBy=x.target\n' },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'links of an earlier [Install] go when it is disabled, also when the unit is gone',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target'),
      [`${ETC}/old.target.wants/a.service`]: `→ ${LIB}/a.service`,
      [`${ETC}/old.target.wants/gone.service`]: `→ ${ETC}/gone.service`,
      [`${ETC}/other.service`]: `→ ${LIB}/a.service`,
    },
    orders: [
      ['disable', 'a.service'],
      ['disable', 'gone.service'],
    ],
  },
  {
    promise: 'a link to the file of the OS is in the way of the same unit in /etc',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target'),
      [`${ETC}/a.service`]: unit('WantedBy=x.target'),
      [`${ETC}/x.target.wants/a.service`]: `→ ${LIB}/a.service`,
    },
    orders: [
      ['enable', 'a.service'],
      ['disable', 'a.service'],
      ['enable', 'a.service'],
    ],
  },
  {
    promise: 'another unit that comes along',
    disk: {
      [`${LIB}/a.service`]: unit('Also=b.socket missing.socket'),
      [`${LIB}/b.socket`]: '[Socket]\nListenStream=/run/b\n[Install]\nWantedBy=sockets.target\n',
    },
    orders: [
      ['enable', 'a.service'],
      ['disable', 'a.service'],
    ],
  },
  {
    promise: 'a name that another unit has as well',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target'),
      [`${LIB}/b.service`]: '→ a.service',
      [`${ETC}/c.service`]: `→ ${LIB}/a.service`,
    },
    orders: [],
  },
  {
    promise: 'an instance of a template',
    disk: {
      [`${LIB}/t@.service`]: unit('WantedBy=x.target'),
      [`${LIB}/t@.service.d/10.conf`]: '[Install]\nWantedBy=y.target\n',
      [`${ETC}/t@one.service.d/20.conf`]: '[Install]\nRequiredBy=%i-%p.target\n',
    },
    orders: [
      ['enable', 't@one.service', 't@two.service'],
      ['disable', 't@one.service'],
    ],
  },
  {
    promise: 'the instance that a template has by default, and all of them when it is disabled',
    disk: { [`${LIB}/t@.service`]: unit('WantedBy=x.target\nDefaultInstance=tty1') },
    orders: [
      ['enable', 't@.service'],
      ['enable', 't@two.service'],
      ['disable', 't@.service'],
    ],
  },
  {
    promise: 'a unit file that is a link to somewhere else',
    disk: { ['/opt/a.service']: unit('WantedBy=x.target'), [`${ETC}/a.service`]: '→ /opt/a.service' },
    orders: [['disable', 'a.service']],
  },
  {
    promise: 'a file that is in the way of a link',
    disk: { [`${LIB}/a.service`]: unit('WantedBy=x.target'), [`${ETC}/x.target.wants/a.service`]: 'mine\n' },
    orders: [['enable', 'a.service']],
  },
  {
    promise: 'masked units with links that lead to them',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target'),
      [`${ETC}/a.service`]: '→ /dev/null',
      [`${ETC}/x.target.wants/a.service`]: `→ ${LIB}/a.service`,
    },
    orders: [['disable', 'a.service']],
  },
  {
    promise: 'presets: the first rule that fits, files by name, /etc before /usr',
    disk: {
      [`${LIB}/a.service`]: unit('WantedBy=x.target'),
      [`${LIB}/b.service`]: unit('WantedBy=x.target'),
      [`${LIB}/c.service`]: unit('WantedBy=x.target'),
      [`${ETC}/x.target.wants/c.service`]: `→ ${LIB}/c.service`,
      [`${PRESETS}/10-a.preset`]: 'disable a.service\n',
      ['/etc/systemd/system-preset/10-a.preset']: '# ours\nenable a.*\n',
      [`${PRESETS}/50-b.preset`]: 'disable a.service\nenable [bx].service\n',
      [`${PRESETS}/99-rest.preset`]: 'disable *\n',
    },
    orders: [['preset', 'a.service', 'b.service', 'c.service']],
  },
  {
    promise: 'presets: without any rule, and instances',
    disk: {
      [`${LIB}/n.service`]: unit('WantedBy=x.target'),
      [`${LIB}/t@.service`]: unit('WantedBy=x.target'),
      [`${PRESETS}/10.preset`]: 'enable t@.service one two\n',
    },
    orders: [
      ['preset', 'n.service'],
      ['preset', 't@.service'],
    ],
  },
  {
    promise: 'a preset of what is missing or masked changes nothing',
    disk: { [`${ETC}/m.service`]: '→ /dev/null' },
    orders: [
      ['preset', 'm.service'],
      ['preset', 'missing.service'],
    ],
    lenient: true,
  },
];

describe('the simulated systemd does what systemctl does', () => {
  let program: IgnitionClient['systemctl'];
  let top: string;

  beforeAll(async () => {
    ({ systemctl: program } = await resolveDebianIgnition());
    top = await mkdtemp(join(tmpdir(), 'slipway-systemctl-'));
  });
  afterAll(() => rm(top, { recursive: true, force: true }));

  async function systemctl(root: string, ...args: string[]): Promise<{ ok: boolean; stdout: string }> {
    const env = { ...process.env, LD_LIBRARY_PATH: program.libraryPath, LC_ALL: 'C' };
    try {
      return { ok: true, stdout: (await run(program.path, [`--root=${root}`, ...args], { env })).stdout };
    } catch (error) {
      return { ok: false, stdout: (error as { stdout?: string }).stdout ?? '' };
    }
  }

  it.each(cases)('$promise', async ({ promise, disk, orders, lenient = false }) => {
    const theirs = join(top, promise.replaceAll(/\W+/g, '-'), 'theirs');
    const ours = join(dirname(theirs), 'ours');
    await layDown(theirs, disk);
    await cp(theirs, ours, { recursive: true, verbatimSymlinks: true });
    const simulated = createSimulatedSystemd(createDisk({ root: ours }), ownOwners(), { keep: async () => {} });
    const names = [...new Set([...unitsOn(disk), ...orders.flatMap(([, ...units]) => units)])];

    // Starts without an order: both must agree on the initial state.
    for (const [verb, ...units] of [['disable'] as const, ...orders]) {
      const real = units.length === 0 || (await systemctl(theirs, verb, ...units)).ok;
      const done = await simulated[verb](units).then(
        () => true,
        () => false,
      );
      expect(done, `${verb} ${units.join(' ')}`).toBe(lenient || real);
      expect(await linksBelow(ours + ETC)).toEqual(await linksBelow(theirs + ETC));
      for (const name of names) {
        const { stdout } = await systemctl(theirs, 'is-enabled', name);
        expect(`${name} ${await simulated.enablement(name)}`).toBe(`${name} ${stdout.trim() || 'not-found'}`);
      }
    }
  });
});

async function layDown(root: string, disk: Case['disk']): Promise<void> {
  await mkdir(root + ETC, { recursive: true });
  for (const [path, text] of Object.entries(disk)) {
    await mkdir(dirname(root + path), { recursive: true });
    if (text.startsWith('→ ')) await symlink(text.slice(2), root + path);
    else await writeFile(root + path, text);
  }
}

function unitsOn(disk: Case['disk']): string[] {
  return Object.keys(disk).flatMap((path) => {
    const name = /systemd\/system\/([^/]+\.(?:service|socket))$/.exec(path)?.[1];
    return name === undefined ? [] : [name];
  });
}

async function linksBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const shown = path.slice(directory.length);
    return entry.isSymbolicLink() ? `${shown} → ${await readlink(path)}` : shown;
  });
  return (await Promise.all(lines)).toSorted();
}
