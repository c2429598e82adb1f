import { describe, expect, it } from 'vitest';
import { DaemonError } from './errors.ts';
import { OSFailure } from './host/os/os-commands.ts';
import { appendToProblem, isTransient, toCodedProblem, toProblem } from './problem.ts';

const systemError = (code: string, message: string) => Object.assign(new Error(message), { code, errno: -1 });

describe('why an update failed', () => {
  it.each<[string, unknown, string, RegExp]>([
    [
      'a full disk has path, operation and what to do',
      systemError('ENOSPC', 'ENOSPC: no space left on device, create /etc/a'),
      'SLW_DAEMON_DISK',
      /^changing files: ENOSPC: no space left on device, create \/etc\/a\. Free space/,
    ],
    ['a read-only disk', systemError('EROFS', 'EROFS: …, rename /etc/a'), 'SLW_DAEMON_DISK', /mounted read-only/],
    [
      'a failing disk',
      systemError('EIO', 'EIO: i/o error, sync /etc/a'),
      'SLW_DAEMON_DISK',
      /replace it\. The daemon retries/,
    ],
    ['any other error of the OS', systemError('EBUSY', 'EBUSY: …, rename /etc/a'), 'SLW_DAEMON_DISK', /journalctl -k/],
    [
      'an error with a code keeps it',
      new DaemonError('SLW_DAEMON_UNIT', 'a.service does not start'),
      'SLW_DAEMON_UNIT',
      /^changing files: a.service does not start$/,
    ],
    ['an error without a code is a failed step', new TypeError('oops'), 'SLW_DAEMON_STEP', /^changing files: oops$/],
  ])('%s', (_, error, code, message) => {
    expect(toProblem(error, 'changing files')).toEqual({ code, message: expect.stringMatching(message) });
  });

  it('says whether a later attempt may succeed, if the error knows', () => {
    const stopped = new DaemonError('SLW_DAEMON_HOST', 'rpm-ostree status was stopped', { retry: true });
    expect(toProblem(stopped, 'staging the OS')).toMatchObject({ code: 'SLW_DAEMON_HOST', retry: true });
    expect(appendToProblem(toProblem(stopped, 'staging the OS'), 'More')).toMatchObject({ retry: true });
  });

  it.each<[string, unknown, boolean]>([
    ['a full disk', systemError('ENOSPC', 'ENOSPC'), true],
    ['systemd while it shuts down', new DaemonError('SLW_DAEMON_SYSTEMD', 'no answer'), true],
    ['another change of the OS in progress', new OSFailure('busy', '', ''), true],
    ['a registry out of reach', new OSFailure('network', '', ''), true],
    ['no space for the OS', new OSFailure('no space', '', ''), true],
    ['a program that is stopped because it hangs', new DaemonError('SLW_DAEMON_HOST', '', { retry: true }), true],
    ['an image that is no OS', new OSFailure('bad image', '', ''), false],
    ['an OS failure of an unknown class', new OSFailure('unknown', '', ''), false],
    ['a unit that does not start', new DaemonError('SLW_DAEMON_UNIT', 'app.service does not start'), false],
    ['a bug', new TypeError('oops'), false],
  ])('is temporary or repeats: %s', (_, error, expected) => {
    expect(isTransient(toProblem(error, 'staging the OS'))).toBe(expected);
  });

  it('is short enough for a condition, however long the error is', () => {
    const problem = toProblem(new Error('x'.repeat(10_000)), 'step');
    expect(problem.message.length).toBeLessThanOrEqual(2000);
    expect(appendToProblem(problem, 'y'.repeat(10_000)).message.length).toBeLessThanOrEqual(2000);
  });
});

describe('an error', () => {
  it('with a code of ours becomes a problem unchanged', () => {
    const error = new DaemonError('SLW_DAEMON_UNIT', 'a.service does not start');
    expect(toCodedProblem(error)).toEqual({ code: 'SLW_DAEMON_UNIT', message: 'a.service does not start' });
  });

  it('of the disk has a code of ours, and says that the daemon retries', () => {
    expect(toCodedProblem(systemError('EROFS', 'EROFS: read-only file system, create /etc/a'))).toEqual({
      code: 'SLW_DAEMON_DISK',
      message: expect.stringMatching(
        /^EROFS: .* create \/etc\/a\. .*remount it read-write\. The daemon retries automatically$/,
      ),
    });
  });

  it.each([[new TypeError('oops')], ['oops']])('of another kind is a bug: %s', (error) => {
    expect(() => toCodedProblem(error)).toThrow('');
  });
});
