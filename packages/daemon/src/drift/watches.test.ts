import { lchownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadDesiredMachine } from '../desired-machine.ts';
import { isRoot, makeHostileUser, USER } from '../host/testing/hostile-user.ts';
import { sampleConfig, sampleFile } from './testing/sample-machine.ts';
import { buildWatchScope, createDirectoryWatcher, type EventImpact, interpretEvent } from './watches.ts';

const config = sampleConfig('rendered-worker-1', {
  files: [sampleFile('/etc/a/b.conf', 'x')],
  directories: [{ path: '/var/lib/mine' }],
  units: [{ name: 'crio.service', enabled: true }],
});
const baseline = { config: config.name, tolerated: [], absent: ['/opt/gone'], linked: [] };
const scope = buildWatchScope(await loadDesiredMachine(config), baseline, ['/etc/shadow']);

const nothing: EventImpact = { check: false, path: null, units: false, rewatch: null };
const UNITS = '/etc/systemd/system';

describe('the watched directories', () => {
  it('are all parents of the relevant paths, and no others', () => {
    expect([...scope.directories].sort()).toEqual([
      '/',
      '/etc',
      '/etc/a',
      '/etc/systemd',
      UNITS,
      `${UNITS}/crio.service.d`,
      '/opt',
      '/run',
      '/run/systemd',
      '/run/systemd/system',
      '/var',
      '/var/lib',
    ]);
  });
});

describe('an event on the machine', () => {
  it.each([
    ['a file of the config is written', '/etc/a', 'change', 'b.conf', { check: true, path: '/etc/a/b.conf' }],
    ['it is replaced', '/etc/a', 'rename', 'b.conf', { check: true, path: '/etc/a/b.conf' }],
    ['a file next to it is written', '/etc/a', 'change', 'c.conf', {}],
    ['a file next to it appears', '/etc/a', 'rename', '.b.conf.swp', {}],
    [
      'the mode of a directory of the config changes',
      '/var/lib',
      'change',
      'mine',
      { check: true, path: '/var/lib/mine' },
    ],
    ['the mode of a parent directory changes', '/etc', 'change', 'a', {}],
    ['a parent directory is replaced', '/etc', 'rename', 'a', { check: true, rewatch: '/etc/a' }],
    ['a watched directory itself is removed', '/etc/a', 'rename', 'a', { check: true, rewatch: '/etc/a' }],
    ['a path of an earlier config returns', '/opt', 'rename', 'gone', { check: true, path: '/opt/gone' }],
    ['passwords change', '/etc', 'rename', 'shadow', { check: true, path: '/etc/shadow' }],
    [
      'a unit of the config appears',
      UNITS,
      'rename',
      'crio.service',
      { check: true, path: `${UNITS}/crio.service`, units: true },
    ],
    ['a unit that the config does not name appears', UNITS, 'rename', 'other.service', {}],
    [
      'its first drop-in appears',
      UNITS,
      'rename',
      'crio.service.d',
      { check: true, rewatch: `${UNITS}/crio.service.d` },
    ],
    [
      'another drop-in appears',
      `${UNITS}/crio.service.d`,
      'rename',
      'x.conf',
      { check: true, path: `${UNITS}/crio.service.d/x.conf` },
    ],
    ['it is enabled or disabled', `${UNITS}/a.target.wants`, 'rename', 'crio.service', { check: true, units: true }],
    ['another one is', `${UNITS}/a.target.wants`, 'rename', 'other.service', {}],
    [
      'the first unit of a target is enabled',
      UNITS,
      'rename',
      'a.target.wants',
      { check: true, units: true, rewatch: `${UNITS}/a.target.wants` },
    ],
    ['it is masked until the next boot', '/run/systemd/system', 'rename', 'crio.service', { check: true, units: true }],
    ['the change is unknown', '/etc', 'rename', null, { check: true, units: true, rewatch: '/etc' }],
  ] as const)('%s', (_, directory, type, name, expected) => {
    expect(interpretEvent(scope, directory, { type, name })).toEqual({ ...nothing, ...expected });
  });
});

describe.runIf(isRoot)('a watch', () => {
  it('is set behind a link of a user only in a directory of that user', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-watches-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const user = makeHostileUser(root);
    const watchApp = () => createDirectoryWatcher({ root }).watch('/var/home/core/app', () => {});
    user.swap('../../../etc/slipway-victim.d');
    expect(watchApp).toThrow('which user 1000 can change, and its target belongs to user 0');
    user.restore();
    mkdirSync(join(root, 'srv'));
    lchownSync(join(root, 'srv'), USER, USER);
    user.swap('../../../srv');
    watchApp().close();
  });
});
