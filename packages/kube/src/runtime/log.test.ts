import { describeLeak, sampleSecrets } from '@slipway/testing/secret-samples';
import { describe, expect, it } from 'vitest';
import { KubeError } from '../client/errors.ts';
import { createLog, mask, maskLine, prettyLine } from './log.ts';

function collect(options: { level?: 'debug' | 'info'; pretty?: boolean } = {}) {
  const lines: string[] = [];
  const log = createLog({ pretty: false, name: 'test', ...options, write: (line) => lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('lines', () => {
  it('are JSON with level, time, name and message, and what a child logger adds', () => {
    const { log, last } = collect();
    log.child({ controller: 'render' }).info({ key: 'worker' }, 'rendered');
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      name: 'test',
      controller: 'render',
      key: 'worker',
      msg: 'rendered',
    });
  });

  it('below the level are not written', () => {
    const { log, lines } = collect();
    log.debug('not this');
    expect(lines).toEqual([]);
    const more = collect({ level: 'debug' });
    more.log.debug('but this');
    expect(more.lines.length).toBe(1);
  });

  it('an error with an SLW_ code has no stack; a bug has its stack; causes are kept', () => {
    const { log, last } = collect();
    log.warn({ err: new KubeError('SLW_KUBE_TIMEOUT', 'get Node a: no answer', { cause: new Error('socket') }) }, 'x');
    expect(last()).toMatchObject({
      err: {
        type: 'KubeError',
        code: 'SLW_KUBE_TIMEOUT',
        message: 'get Node a: no answer',
        cause: { message: 'socket' },
      },
    });
    expect(last()['err']).not.toHaveProperty('stack');
    log.error({ err: new TypeError('not a function') }, 'x');
    expect(last()).toMatchObject({ err: { type: 'TypeError', stack: expect.stringContaining('log.test.ts') } });
  });

  it('an error is logged without the response and headers it carries', () => {
    const { log, lines } = collect();
    log.error(
      { err: Object.assign(new Error('bad'), { headers: { authorization: 'Bearer abc' }, body: 'pw=1' }) },
      'x',
    );
    expect(lines[0]).not.toMatch(/abc|pw=1/);
  });
});

describe('secrets', () => {
  it.each([
    ['a header is hidden', { headers: { Authorization: 'Basic abc' } }, { headers: { Authorization: '(hidden)' } }],
    ['a token is hidden', { user: { token: 'abc', name: 'a' } }, { user: { token: '(hidden)', name: 'a' } }],
    ['a bearer token field is hidden', { bearerToken: 'abc' }, { bearerToken: '(hidden)' }],
    ['a password with a prefix is hidden', { db_password: 'abc' }, { db_password: '(hidden)' }],
    ['the key of a kubeconfig is hidden', { 'client-key-data': 'abc' }, { 'client-key-data': '(hidden)' }],
    [
      'the contents of a Secret are hidden, in a list too',
      { items: [{ kind: 'Secret', data: { a: 'YQ==' }, stringData: { b: 'b' }, type: 'Opaque' }] },
      { items: [{ kind: 'Secret', data: '(hidden)', stringData: '(hidden)', type: 'Opaque' }] },
    ],
    ['the name of a Secret is none', { secret: 'ns/pull' }, { secret: 'ns/pull' }],
    ['a ConfigMap holds none', { kind: 'ConfigMap', data: { a: 'b' } }, { kind: 'ConfigMap', data: { a: 'b' } }],
    ['an empty field is none', { token: '', password: undefined }, { token: '', password: undefined }],
  ])('of secrets, %s', (_what, fields, expected) => {
    expect(mask(fields)).toEqual(expected);
  });

  it('are hidden in child loggers and in texts', () => {
    const { log, lines } = collect();
    log.child({ token: 'abc1"x' }).info({ url: 'https://me:abc2@host/x' }, 'sent authorization: Bearer abc3.d-e_f');
    expect(lines[0]).not.toMatch(/abc\d|d-e_f/);
    expect(maskLine('{"msg":"GET https://host/path@x"}\n')).toBe('{"msg":"GET https://host/path@x"}\n');
  });

  it('of every kind are hidden by content in messages, fields, errors and child loggers', () => {
    for (const sample of sampleSecrets(130, 7)) {
      const { text } = sample;
      const { log, lines } = collect();
      log.child({ given: text }).error({ err: new Error(`refused:\n${text}`), diffs: [text] }, text);
      expect(lines.length).toBe(1);
      expect(describeLeak(sample, lines.join(''))).toBe('');
    }
  });

  it('endless fields are cut', () => {
    interface Chain {
      next?: Chain;
    }
    const ring: Chain = {};
    ring.next = ring;
    expect(JSON.stringify(mask(ring)).length).toBeLessThan(200);
    expect(Object.keys(mask(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`f${at}`, at])))).length).toBe(
      100,
    );
  });
});

describe('on a terminal', () => {
  it('a line is short, with its fields after the message', () => {
    const { log, lines } = collect({ pretty: true });
    log.info({ controller: 'render', nodes: 3 }, 'pool worker rendered');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO {2}pool worker rendered controller=render nodes=3\n$/);
  });

  it('an error is in the line, a stack below it', () => {
    const line = JSON.stringify({
      level: 'debug',
      time: '2026-01-01T12:34:56.000Z',
      msg: 'failed',
      err: { message: 'no answer', stack: 'Error: no answer\n    at x' },
    });
    expect(prettyLine(line)).toBe('12:34:56 \u001b[2mDEBUG\u001b[0m failed (no answer)\nError: no answer\n    at x\n');
  });
});
