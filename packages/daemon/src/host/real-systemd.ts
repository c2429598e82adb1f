// systemd through its command line. systemctl changes links itself, without the running systemd. This works the same in
// every version, even for a unit whose file is gone, and needs no D-Bus.
import { posix } from 'node:path';
import { systemClock } from '@slipway/base/clock';
import { DaemonError } from '../errors.ts';
import type { FileSystem } from './file-system.ts';
import type { Details, Systemd } from './host.ts';
import { type CommandResult, type Run, summarize } from './run-command.ts';

const UNIT_DIRECTORY = '/etc/systemd/system';
const DEPENDENCIES = /\.(wants|requires|upholds)$/;
const SHORT_MS = 60_000;
/** A unit may take its TimeoutStartSec, and that of its dependencies. */
const START_MS = 10 * 60_000;
const NOT_THERE = /does not exist|No such file or directory|not found|is masked|not-found/i;
const LOG_LINES = 20;
/** Units that some hosts lack, with an equivalent program. */
const INSTEAD: Readonly<Record<string, string>> = { 'coreos-update-ca-trust.service': 'update-ca-trust' };

export interface RealSystemdOptions {
  readonly files: FileSystem;
  readonly run: Run;
  readonly details: Details;
  /** How long and how often to check a unit that systemd reports as started immediately. */
  readonly settle?: { readonly forMs: number; readonly everyMs: number };
}

export function createRealSystemd(options: RealSystemdOptions): Systemd {
  const { files, run } = options;
  const settle = options.settle ?? { forMs: 2000, everyMs: 200 };
  const systemctl = (args: readonly string[], timeoutMs = SHORT_MS) =>
    run({ program: 'systemctl', args, timeoutMs }).then(mustBeThere).then(mustAnswer);
  const changeLinks = async (verb: string, units: readonly string[]) => {
    const result = await systemctl(['--root=/', verb, '--', ...units]);
    await syncLinks(files);
    return result;
  };

  async function start(verb: 'reload' | 'restart', unit: string): Promise<void> {
    const { stdout } = await systemctl(['show', '--property=NeedDaemonReload', '--', unit]);
    // Otherwise it would run with the old file, and systemd would only print a warning.
    if (parseProperties(stdout)['NeedDaemonReload'] === 'yes')
      expectDone(await systemctl(['daemon-reload']), 'reload', '');
    const result = await systemctl([verb, '--', unit], START_MS);
    if (result.status !== 0) throw await buildUnitError(options, verb, unit, result.stderr);
  }

  async function watchStarted(unit: string): Promise<void> {
    const names = 'Type,ActiveState,SubState,Result,NRestarts,RemainAfterExit';
    for (let watched = 0; ; watched += settle.everyMs) {
      const { stdout } = await systemctl(['show', `--property=${names}`, '--', unit]);
      const verdict = judgeRestart(parseProperties(stdout));
      if (verdict.kind === 'failed') throw await buildUnitError(options, 'restart', unit, verdict.why);
      if (verdict.kind === 'done' || watched >= settle.forMs) return;
      await systemClock.sleep(settle.everyMs);
    }
  }

  return {
    async enablement(unit) {
      const { stdout, stderr } = await systemctl(['is-enabled', '--', unit]);
      const state = stdout.trim().split('\n')[0] ?? '';
      if (state !== '') return state;
      // Before systemd 253, stdout is empty.
      if (NOT_THERE.test(stderr)) return 'not-found';
      throw new DaemonError('SLW_DAEMON_UNIT', `Cannot determine whether ${unit} is enabled: ${summarize(stderr)}`);
    },

    async enable(units) {
      if (units.length > 0) expectDone(await changeLinks('enable', units), 'enable', units.join(', '));
    },

    async disable(units) {
      for (const unit of units) expectDone(await changeLinks('disable', [unit]), 'disable', unit, NOT_THERE);
    },

    async preset(units) {
      for (const unit of units) expectDone(await changeLinks('preset', [unit]), 'preset', unit, NOT_THERE);
    },

    async daemonReload() {
      expectDone(await systemctl(['daemon-reload']), 'reload', 'systemd');
    },

    reload: (unit) => start('reload', unit),

    async restart(unit) {
      const instead = INSTEAD[unit];
      try {
        await start('restart', unit);
      } catch (error) {
        const result =
          instead === undefined ? undefined : await run({ program: instead, args: [], timeoutMs: START_MS });
        if (result?.status !== 0) throw error;
        return;
      }
      await watchStarted(unit);
    },
  };
}

function mustBeThere(result: CommandResult): CommandResult {
  if (result.status !== null) return result;
  throw new DaemonError(
    'SLW_DAEMON_HOST',
    'This machine has no systemctl: expected a machine that runs systemd. Check that the root directory is that of the machine',
  );
}

/** During a shutdown or a restart of systemd itself. The unit is not the cause. */
const NO_ANSWER =
  /Failed to connect to (?:system )?bus|Connection refused|Transport endpoint is not connected|Connection timed out|Connection reset by peer|Refusing .* shutting down|is shutting down/i;

function mustAnswer(result: CommandResult): CommandResult {
  if (result.status === 0 || !NO_ANSWER.test(result.stderr)) return result;
  throw new DaemonError(
    'SLW_DAEMON_SYSTEMD',
    `systemd does not respond; the machine may be shutting down: ${summarize(result.stderr)}`,
  );
}

function expectDone({ status, stderr }: CommandResult, verb: string, units: string, unless?: RegExp): void {
  if (status === 0 || unless?.test(stderr) === true) return;
  throw new DaemonError(
    'SLW_DAEMON_UNIT',
    `systemd did not ${verb} ${units}: ${summarize(stderr) || `no output, status ${status}`}`,
  );
}

/** The log of a unit may contain anything, so it stays on the machine. */
export async function buildUnitError(
  { run, details }: Pick<RealSystemdOptions, 'run' | 'details'>,
  verb: string,
  unit: string,
  why: string,
): Promise<DaemonError> {
  const args = ['--no-pager', '--output=cat', `--lines=${LOG_LINES}`, `--unit=${unit}`];
  const log = await run({ program: 'journalctl', args, timeoutMs: SHORT_MS }).catch(() => undefined);
  await details.keep(`Cannot ${verb} ${unit}. The last lines of its log:`, log?.stdout ?? '');
  return new DaemonError(
    'SLW_DAEMON_UNIT',
    `Cannot ${verb} ${unit}: ${summarize(why)} See its log on the machine: journalctl -u ${unit}`,
  );
}

/** systemctl creates links without syncing them. */
async function syncLinks(files: FileSystem): Promise<void> {
  const names = await files.list(UNIT_DIRECTORY);
  for (const name of names.filter((name) => DEPENDENCIES.test(name))) {
    const path = posix.join(UNIT_DIRECTORY, name);
    if ((await files.lookAt(path))?.kind === 'directory') await files.syncDirectory(path);
  }
  if ((await files.lookAt(UNIT_DIRECTORY))?.kind === 'directory') await files.syncDirectory(UNIT_DIRECTORY);
}

/** Parses the output of `systemctl show`. */
export function parseProperties(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

export type RestartVerdict =
  | { readonly kind: 'done' }
  /** systemd reports such a unit as running as soon as it has a process. */
  | { readonly kind: 'perhaps' }
  | { readonly kind: 'failed'; readonly why: string };

/** Types whose readiness systemd knows and has waited for. */
const READINESS_TYPES = new Set(['notify', 'notify-reload', 'dbus', 'forking', 'oneshot']);

/** The state of a unit after `systemctl restart` has succeeded. */
export function judgeRestart(properties: Readonly<Record<string, string>>): RestartVerdict {
  const readProperty = (name: string) => properties[name] ?? '';
  if (readProperty('ActiveState') === 'failed' || !['', 'success'].includes(readProperty('Result'))) {
    return { kind: 'failed', why: `it failed (${readProperty('Result')}).` };
  }
  if (readProperty('SubState').startsWith('auto-restart') || Number(readProperty('NRestarts')) > 0) {
    return { kind: 'failed', why: 'it exits right after its start, and systemd keeps restarting it.' };
  }
  // It exited successfully, so nothing is left to do. Other unit types (a socket, a timer) have no type property.
  const isReady =
    readProperty('ActiveState') === 'inactive' ||
    readProperty('Type') === '' ||
    READINESS_TYPES.has(readProperty('Type'));
  return { kind: isReady ? 'done' : 'perhaps' };
}
