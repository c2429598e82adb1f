import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from '../cli/io.ts';
import { handleLine, runBatch } from './batch.ts';

const config = (version: string, ...paths: string[]) => ({
  ignition: { version },
  ...(paths.length === 0 ? {} : { storage: { files: paths.map((path) => ({ path })) } }),
});

async function run(input: Iterable<string | Uint8Array>, maxLineBytes?: number): Promise<unknown[]> {
  const stdout = new PassThrough();
  const chunks = [...input].map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  const io: Io = { stdin: Readable.from(chunks), stdout, stderr: new PassThrough(), setExitCode: () => undefined };
  const output = stdout.setEncoding('utf8').toArray();
  await runBatch(io, maxLineBytes);
  stdout.end();
  const text = (await output).join('');
  return text.trim() === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line));
}

const sendRequest = (question: object) => handleLine(JSON.stringify(question));
const error = (message: RegExp) => [{ kind: 'error', path: '', message: expect.stringMatching(message) }];

describe('a batch', () => {
  it('answers every line, in order', async () => {
    const questions = Array.from({ length: 50 }, (_, id) => ({ id, op: 'parse', configs: [config('3.5.0')] }));
    const answers = await run(questions.map((question) => `${JSON.stringify(question)}\n`));
    expect(answers).toEqual(questions.map(({ id }) => ({ id, result: config('3.5.0'), report: [] })));
  });

  it('continues after invalid lines', async () => {
    const good = JSON.stringify({ id: 'last', op: 'parse', configs: [config('3.5.0')] });
    const answers = await run(['not json\n', '[1]\n\n', '{"id":7,"op":"explode"}\n', good]);
    expect(answers).toMatchObject([
      { id: null, result: null, report: error(/not JSON/) },
      { id: null, result: null, report: error(/not a JSON object/) },
      { id: 7, result: null, report: error(/op must be one of/) },
      { id: 'last', result: config('3.5.0'), report: [] },
    ]);
  });

  it('reads lines across chunk boundaries, even inside a character', async () => {
    const line = `${JSON.stringify({ id: 'ü', op: 'parse', configs: [config('3.5.0')] })}\n`;
    const bytes = Buffer.from(line + line);
    const answers = await run(Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1)));
    expect(answers).toMatchObject([{ id: 'ü' }, { id: 'ü' }]);
  });

  it('responds to a line that is too long with an error, does not store it, and continues', async () => {
    const short = `${JSON.stringify({ id: 1, op: 'parse', configs: [config('3.5.0')] })}\n`;
    const long = Array.from({ length: 100 }, () => 'x'.repeat(1000));
    const answers = await run([...long, '\n', short, 'y'.repeat(5000)], 1000);
    expect(answers).toMatchObject([
      { id: null, report: error(/longer than 1000 bytes/) },
      { id: 1, report: [] },
      { id: null, report: error(/longer than 1000 bytes/) },
    ]);
  });

  it('stops reading while its responses are not read', async () => {
    let asked = 0;
    async function* questions() {
      for (; asked < 1000; asked++) yield Buffer.from(`{"id":${asked},"op":"parse","configs":[]}\n`);
    }
    const held: (() => void)[] = [];
    const stdout = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void held.push(done) });
    const io: Io = { stdin: questions(), stdout, stderr: new PassThrough(), setExitCode: () => undefined };
    const running = runBatch(io);
    await expect.poll(() => held.length).toBe(1);
    expect(asked).toBe(0);
    const release = setInterval(() => held.shift()?.(), 0);
    await running;
    clearInterval(release);
    expect(asked).toBe(1000);
  });
});

describe('an answer', () => {
  it('to parse and validate is the config, or null and why', () => {
    expect(sendRequest({ id: 1, op: 'validate', configs: [config('3.5.0', '/a')] })).toMatchObject({
      id: 1,
      report: [],
    });
    const relative = sendRequest({ id: 2, op: 'validate', configs: [config('3.5.0', 'relative')] });
    expect(relative).toMatchObject({ id: 2, result: null });
    expect(relative.report).toMatchObject([{ kind: 'error', path: 'storage.files[0].path' }]);
  });

  it('accepts a config as a string with its exact bytes', () => {
    expect(sendRequest({ id: 1, op: 'parse', configs: [JSON.stringify(config('3.5.0'))] })).toMatchObject({
      report: [],
    });
    expect(sendRequest({ id: 1, op: 'parse', configs: ['{'] }).result).toBeNull();
  });

  it('to translate is the config in the other spec', () => {
    expect(sendRequest({ id: 1, op: 'translate', configs: [config('3.2.0')], to: '3.4.0' })).toMatchObject({
      result: config('3.4.0'),
      report: [],
    });
  });

  it('to merge is the configs merged in order, in 3.5.0 by default', () => {
    const configs = [config('3.2.0', '/a', '/b'), config('3.5.0', '/b', '/c')];
    expect(sendRequest({ id: 1, op: 'merge', configs })).toMatchObject({ result: config('3.5.0', '/a', '/b', '/c') });
    expect(sendRequest({ id: 1, op: 'merge', configs, to: '3.6.0' })).toMatchObject({
      result: { ignition: { version: '3.6.0' } },
    });
  });

  it('to a merge with an invalid result has warnings', () => {
    const owner = (user: object) => ({ ignition: { version: '3.5.0' }, storage: { files: [{ path: '/a', user }] } });
    const { result, report } = sendRequest({
      id: 1,
      op: 'merge',
      configs: [owner({ name: 'core' }), owner({ id: 1 })],
    });
    expect(result).not.toBeNull();
    expect(report).toMatchObject([{ kind: 'warning', message: expect.stringContaining('merged config is invalid') }]);
  });

  it.each([
    [{ op: 'parse', configs: [] }, /parse takes one config, found 0/],
    [{ op: 'merge', configs: [] }, /at least one/],
    [{ op: 'parse', configs: [5] }, /each an object or a string/],
    [{ op: 'parse' }, /configs must be a list/],
    [{ op: 'translate', configs: [{}] }, /"to" must be a known spec version/],
    [{ op: 'translate', configs: [{}], to: '9.9.9' }, /"to" must be a known spec version/],
    [{ op: 'merge', configs: [{}], to: '2.4.0' }, /3\.x/],
  ])('to %j is an error', (question, message) => {
    expect(sendRequest({ id: 5, ...question })).toEqual({ id: 5, result: null, report: error(message) });
  });
});
