import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { planUpdate } from '@slipway/fleet';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import { heal } from '../drift/heal.ts';
import { bringTo, sampleConfig, sampleMachine } from '../drift/testing/sample-machine.ts';
import { verifyMachine } from '../drift/verify-machine.ts';
import { aroundCalls } from '../host/testing/calls.ts';
import { isRoot, JOB, makeHostileUser, USER } from '../host/testing/hostile-user.ts';
import { preflight } from './preflight.ts';
import { makeSwappedHome, runAgainstSwaps, type SwappedHome } from './testing/swapped-home.ts';
import type { UpdateResult } from './updater.ts';

/**
 * Runs `act` once for each of its calls of the file system, on a new machine each time, and inspects the machine
 * afterwards. The user does `disturb` right before that call: by default, the directory is replaced by the link.
 */
async function atEveryCall<T, R>(
  act: (home: SwappedHome) => Promise<T>,
  inspect: (home: SwappedHome, result: T) => Promise<R>,
  disturb = (home: SwappedHome): void => home.user.swap(),
): Promise<R[]> {
  const inspected: R[] = [];
  const undisturbed = await actDisturbed(-1, act, disturb);
  for (let at = 0; at < undisturbed.calls; at += 1) {
    const { home, result } = await actDisturbed(at, act, disturb);
    inspected.push(await inspect(home, result));
  }
  return inspected;
}

async function actDisturbed<T>(
  at: number,
  act: (home: SwappedHome) => Promise<T>,
  disturb: (home: SwappedHome) => void,
) {
  let calls = Number.NEGATIVE_INFINITY;
  const home = await makeSwappedHome((files) =>
    aroundCalls(files, (_, run) => {
      if (calls++ === at) disturb(home);
      return run();
    }),
  );
  writeFileSync(home.at('/var/home/core/app/job'), 'of the user\n');
  const before = home.user.readVictim();
  calls = 0;
  const result = await act(home);
  expect(home.user.readVictim()).toEqual(before);
  return { home, result, calls };
}

async function readFilesOfRoot(home: SwappedHome, result: UpdateResult) {
  const files = ['/etc/first.conf', '/var/usrlocal/last.conf'].map((path) => readFileSync(home.at(path), 'utf8'));
  return { result, files: files.join('') };
}

const APP = '/var/home/core/app';
const LINK = /goes through the link \/var\/home\/core\/app → \/etc\/slipway-victim\.d, which user 1000 can change/;

describe.runIf(isRoot)('a user who replaces a directory of the config by a link to a directory of root', () => {
  it('is reported as drift that names path, link and user, and nothing behind the link is read', async () => {
    const home = await makeSwappedHome();
    home.user.swap();
    const [drift, ...others] = await home.verify();
    expect(others).toEqual([]);
    expect(drift).toMatchObject({ name: JOB, message: expect.stringMatching(LINK), diff: '', canHeal: false });
  });

  it('before any call of a heal: nothing of root is written or removed, and the next check reports it', async () => {
    const reported = await atEveryCall(
      (home) => home.heal(),
      async (home) => (await home.verify()).map(({ message }) => message).join(),
    );
    expect(reported.length).toBeGreaterThan(10);
    expect(reported.filter((text) => !LINK.test(text))).toEqual([]);
  });

  it('before any call of an update: it is refused or rolled back, and nothing of root is written or removed', async () => {
    const results = await atEveryCall((home) => home.update(), readFilesOfRoot);
    expect(results.length).toBeGreaterThan(20);
    // The files of root are all old or all new, and the outcome reports which.
    expect(results.filter(({ result, files }) => files !== `${result.outcome}\n`.repeat(2))).toEqual([]);
    const problems = results.flatMap(({ result }) => (result.outcome === 'old' ? [result.problem] : []));
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['SLW_DAEMON_LINK', 'SLW_DAEMON_VERIFY']));
    expect(problems.filter(({ message }) => !LINK.test(message))).toEqual([]);
  });

  it('whose link leads to a missing directory gets no directory made there', async () => {
    const home = await makeSwappedHome();
    home.user.swap('/etc/made-by-root');
    expect(await home.update()).toMatchObject({ outcome: 'old', problem: { code: 'SLW_DAEMON_LINK' } });
    await home.heal();
    expect(existsSync(home.at('/etc/made-by-root'))).toBe(false);
  });

  it('who changes the mode of a file of root gets the contents of the config with the mode of the config', async () => {
    const home = await makeSwappedHome();
    const job = home.at('/var/home/core/app/job');
    chmodSync(job, 0o600);
    const drifts = await home.verify();
    expect(drifts.map(({ kind }) => kind)).toEqual(['permission']);
    rmSync(job);
    writeFileSync(job, 'of the user\n', { mode: 0o600 });
    lchownSync(job, USER, USER);
    await home.heal(drifts);
    expect(readFileSync(job, 'utf8')).toBe('old\n');
    expect(await home.verify()).toEqual([]);
  });

  it('in another process, without a pause: nothing of root changes, and then the update succeeds', async () => {
    const { victim } = await runAgainstSwaps({ swaps: 200, rounds: 30 });
    expect(victim.after).toEqual(victim.before);
  });
});

describe.runIf(isRoot)('a user who changes an own directory of the config before any call of an update', () => {
  const disturbances: readonly [string, (home: SwappedHome) => void][] = [
    ['removes it', ({ at }) => rmSync(at(APP), { recursive: true, force: true })],
    [
      'replaces it by a file',
      ({ at }) => {
        rmSync(at(APP), { recursive: true, force: true });
        writeFileSync(at(APP), 'of the user\n');
        lchownSync(at(APP), USER, USER);
      },
    ],
    [
      'replaces its file by a directory with contents',
      ({ at }) => {
        rmSync(at(`${APP}/job`), { recursive: true, force: true });
        mkdirSync(at(`${APP}/job`), { recursive: true });
        writeFileSync(at(`${APP}/job/theirs`), 'of the user\n');
      },
    ],
  ];

  it.each(sampleCases('disturbances', disturbances, 1 / 3))(
    '%s: the files of root are all old or all new',
    async (_, disturb) => {
      const results = await atEveryCall((home) => home.update(), readFilesOfRoot, disturb);
      expect(results.length).toBeGreaterThan(20);
      expect(results.filter(({ result, files }) => files !== `${result.outcome}\n`.repeat(2))).toEqual([]);
      expect(results.filter(({ result }) => result.outcome === 'old').length).toBeGreaterThan(5);
    },
  );
});

describe.runIf(isRoot)('a user who moves an entry of root to a path whose contents the config leaves alone', () => {
  const owners = { user: { id: USER }, group: { id: USER } };
  const sections = {
    files: [{ path: '/home/core/app/kept', mode: 0o644, ...owners }],
    directories: [{ path: '/home/core/app/open', mode: 0o755, ...owners }],
  };

  it('does not get it: its mode and owner stay, and the reason is reported', async () => {
    const { host, root, at } = await sampleMachine();
    makeHostileUser(root);
    mkdirSync(at(`${APP}/open`));
    writeFileSync(at(`${APP}/kept`), 'of the user\n');
    for (const name of ['open', 'kept']) lchownSync(at(`${APP}/${name}`), USER, USER);
    mkdirSync(at(`${APP}/private`), { mode: 0o700 });
    writeFileSync(at(`${APP}/secret`), 'of root\n', { mode: 0o600 });
    const config = await bringTo(host, sampleConfig('rendered-worker-1', sections));
    rmSync(at(`${APP}/open`), { recursive: true });
    renameSync(at(`${APP}/private`), at(`${APP}/open`));
    renameSync(at(`${APP}/secret`), at(`${APP}/kept`));
    const problems = await heal(host, config, await verifyMachine(host, config));
    for (const name of ['kept', 'open']) {
      const { uid, mode } = statSync(at(`${APP}/${name}`));
      expect([name, uid, mode & 0o077]).toEqual([name, 0, 0]);
      const message = new RegExp(`the mode and the owner of .*/${name} are not changed, .* user 1000 can change`);
      expect(problems.map((problem) => problem.message)).toContainEqual(expect.stringMatching(message));
    }
  });

  it('does not get its contents by an update that adds the path', async () => {
    const { host, root, at } = await sampleMachine();
    makeHostileUser(root);
    writeFileSync(at(`${APP}/kept`), 'of root\n', { mode: 0o600 });
    const from = await bringTo(host, sampleConfig('rendered-worker-1', {}));
    const to = sampleConfig('rendered-worker-2', { files: sections.files });
    const plan = await planUpdate({ current: from, desired: to });
    expect(await preflight(host, { from, to, plan })).toMatchObject({
      type: 'refused',
      problem: { message: expect.stringMatching(/found one of 0:0 in a directory that a user can change/) },
    });
  });

  it('does not get its contents either if it moves it there after the check', async () => {
    let move = (): void => {};
    const { host, root, at } = await sampleMachine({
      wrap: (files) =>
        aroundCalls(files, ({ operation, path }, run) => {
          if (operation === 'read' && path.endsWith('/kept')) move();
          return run();
        }),
    });
    makeHostileUser(root);
    const own = at(`${APP}/kept`);
    writeFileSync(own, 'of the user\n', { mode: 0o600 });
    lchownSync(own, USER, USER);
    writeFileSync(at(`${APP}/secret`), 'of root\n', { mode: 0o600 });
    const from = await bringTo(host, sampleConfig('rendered-worker-1', {}));
    const to = sampleConfig('rendered-worker-2', { files: sections.files });
    const plan = await planUpdate({ current: from, desired: to });
    move = () => renameSync(at(`${APP}/secret`), own);
    expect(await preflight(host, { from, to, plan })).toMatchObject({
      type: 'refused',
      problem: { message: expect.stringMatching(/kept was replaced by another process while the daemon read it/) },
    });
  });

  it('gets the mode of the config for an own file', async () => {
    const { host, root, at } = await sampleMachine();
    makeHostileUser(root);
    writeFileSync(at(`${APP}/kept`), 'of the user\n', { mode: 0o600 });
    lchownSync(at(`${APP}/kept`), USER, USER);
    await bringTo(host, sampleConfig('rendered-worker-1', { files: sections.files }));
    expect(statSync(at(`${APP}/kept`)).mode & 0o777).toBe(0o644);
  });
});
