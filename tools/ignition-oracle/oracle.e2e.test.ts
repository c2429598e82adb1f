import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Oracle } from './oracle.ts';

let oracle: Oracle;

beforeAll(async () => {
  oracle = await Oracle.start();
}, 300_000);

afterAll(() => oracle.close());

const empty = { ignition: { version: '3.5.0' } };

describe('the oracle', () => {
  it('answers many large requests in order', async () => {
    const source = `data:,${'x'.repeat(20_000)}`;
    const questions = Array.from({ length: 500 }, (_, number) => ({
      op: 'parse' as const,
      configs: [{ ...empty, storage: { files: [{ path: `/${number}`, contents: { source } }] } }],
    }));
    const answers = await oracle.askAll(questions);
    expect(answers.map(({ result }) => result)).toMatchObject(
      questions.map((_, number) => ({ storage: { files: [{ path: `/${number}` }] } })),
    );
  });

  it('accepts a string as the exact bytes of a config', async () => {
    expect(await oracle.ask({ op: 'parse', configs: ['{"ignition":{"version":"3.5.0"},}'] })).toMatchObject({
      result: null,
      stage: 'decode',
      report: [{ kind: 'error' }],
    });
  });

  it('formats the path of an error like Slipway', async () => {
    const { report } = await oracle.ask({
      op: 'validate',
      configs: [{ ...empty, storage: { files: [{ path: 'a' }] } }],
    });
    expect(report).toEqual([{ kind: 'error', path: 'storage.files[0].path', message: 'path not absolute' }]);
  });

  it('translates and merges', async () => {
    const old = { ignition: { version: '2.2.0' }, systemd: { units: [{ name: 'a.service', enable: true }] } };
    const { result } = await oracle.ask({ op: 'merge', configs: [empty, old], to: '3.6.0' });
    expect(result).toMatchObject({
      ignition: { version: '3.6.0' },
      systemd: { units: [{ name: 'a.service', enabled: true }] },
    });
  });

  it('folds configs for a benchmark, and reports the cost', async () => {
    const configs = ['/a', '/b'].map((path) => ({ ignition: empty.ignition, storage: { files: [{ path }] } }));
    const { result } = await oracle.ask({ op: 'fold', configs });
    expect(result).toEqual({ micros: expect.any(Number), allocatedBytes: expect.any(Number) });
    const bad = { ...empty, storage: { files: [{ path: 'relative' }] } };
    expect(await oracle.ask({ op: 'fold', configs: [empty, bad] })).toMatchObject({ stage: 'validate', result: null });
  });

  it('reports a panic of the Go code, and continues', async () => {
    const disk = { device: '/dev/a', partitions: [{ number: 1 }] };
    const config = { ignition: { version: '3.2.0' }, storage: { disks: [disk] } };
    expect(await oracle.ask({ op: 'translate', configs: [config], to: '2.4.0' })).toMatchObject({ panic: true });
    expect(await oracle.ask({ op: 'parse', configs: [empty] })).toMatchObject({ stage: 'done' });
  });

  it('fails every pending request when its process ends', async () => {
    const other = await Oracle.start();
    if (other.pid !== undefined) process.kill(other.pid);
    await expect(other.ask({ op: 'parse', configs: [empty] })).rejects.toMatchObject({ code: 'SLW_ORACLE_ENDED' });
    await expect(other.ask({ op: 'parse', configs: [empty] })).rejects.toMatchObject({ code: 'SLW_ORACLE_ENDED' });
    await other.close();
  });
});
