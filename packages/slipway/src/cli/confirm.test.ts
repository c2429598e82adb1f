import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from './io.ts';
import { confirm } from './confirm.ts';

function terminal(answer: string, { stdin = true, stderr = true } = {}): { io: Io; said: () => string } {
  const out = new PassThrough({ encoding: 'utf8' });
  const io: Io = {
    stdin: Object.assign(Readable.from([Buffer.from(answer)]), { isTTY: stdin }),
    stdout: new PassThrough(),
    stderr: Object.assign(out, { isTTY: stderr }),
    setExitCode: () => {},
  };
  return { io, said: () => String(out.read() ?? '') };
}

describe('the confirmation before a write', () => {
  it.each([
    ['y\n', true],
    [' YES \n', true],
    ['n\n', false],
    ['\n', false],
    ['', false],
    ['yesterday\n', false],
  ])('treats %j as %s', async (answer, expected) => {
    const { io, said } = terminal(answer);
    expect(await confirm('Really?', {}, io)).toBe(expected);
    expect(said()).toBe('Really? [y/N] ');
  });

  it('is not asked with --yes', async () => {
    const { io, said } = terminal('n\n');
    expect(await confirm('Really?', { yes: true }, io)).toBe(true);
    expect(said()).toBe('');
  });

  it.each([{ stdin: false }, { stderr: false }])('cannot be asked without a terminal: %j', async (missing) => {
    const { io } = terminal('y\n', missing);
    await expect(confirm('Really?', {}, io)).rejects.toMatchObject({
      code: 'SLW_CLI_USAGE',
      message: expect.stringContaining('--yes'),
    });
  });
});
