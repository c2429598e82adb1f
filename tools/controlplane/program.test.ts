import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { explainEnd, findLogErrors } from './program.ts';

const at = (severity: string, text: string) => `${severity}1119 20:00:40.684771    9780 server.go:55] ${text}`;
const json = (level: string, msg: string) => `{"level":"${level}","ts":"2026-11-19T20:00:40Z","msg":"${msg}"}`;

describe('the end of the log of a program that died', () => {
  it.each([
    ['nothing, if nothing failed', [at('I', 'serving'), at('W', 'cannot connect yet'), json('warn', 'slow')], []],
    [
      'its last errors',
      ['1', '2', '3', '4'].map((text) => at('E', text)),
      ['2', '3', '4'].map((text) => at('E', text)),
    ],
    ['errors of etcd', [json('info', 'ready'), json('error', 'no space')], [json('error', 'no space')]],
    [
      'the start of a crash, not its stack',
      [at('E', 'before'), 'panic: no map', '', 'goroutine 1 [running]:', 'main.main()', '\t/main.go:3', 'exit 2'],
      ['panic: no map goroutine 1 [running]:', 'main.main() /main.go:3', 'exit 2'],
    ],
    [
      'an error of several lines in one',
      [at('E', 'err=<'), '\tno kind A', '\tno kind B', ' > logger="x"', at('I', 'more')],
      [`${at('E', 'err=<')} no kind A no kind B > logger="x"`],
    ],
    ['a fatal error', [at('F', 'no etcd'), at('I', 'more')], [at('F', 'no etcd')]],
    ['other text', ['it is broken'], ['it is broken']],
  ])('is %s', (_, lines, expected) => {
    expect(findLogErrors(`${lines.join('\n')}\n`)).toEqual(expected);
  });

  it('is short, however long its lines are', () => {
    expect(findLogErrors(`${at('E', 'x'.repeat(5000))}\n`)[0]?.length).toBeLessThan(250);
  });

  it('is found in a log of 3 GB, and holds nothing of before it was ready', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'slipway-log-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const logFile = join(directory, 'kube-apiserver.log');
    const before = `${at('E', 'while starting')}\n`;
    const program = { name: 'kube-apiserver', pid: 1, logFile, ended: undefined, readyAt: before.length, exit: done };
    await writeFile(logFile, `${before}${at('E', 'no memory')}\n`);
    expect(await explainEnd(program)).toEqual([at('E', 'no memory')]);
    await truncate(logFile, 3 * 1024 ** 3);
    await writeFile(logFile, `\n${at('E', 'later')}\n`, { flag: 'a' });
    expect(await explainEnd(program)).toEqual([at('E', 'later')]);
  });
});

const done = Promise.resolve();
