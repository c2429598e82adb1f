import type { ServerResponse } from 'node:http';
import { type RequestHandler, respondJson, type RecordedRequest } from '@slipway/testing/fake-http-server';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { isKubeError, type KubeErrorCode } from '../client/errors.ts';
import type { KubeObject, Resource, Stored } from '../client/resource.ts';
import { createTransport } from '../client/transport.ts';
import { type StandInServer, startStandInServer, statusBody } from '../testing/stand-in-server.ts';
import { createInformer, type Informer, type InformerOptions } from './informer.ts';

interface Thing extends KubeObject {
  value?: string;
}

const things: Resource<Thing> = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };

const thing = (name: string, resourceVersion: string, uid = `uid-${name}`): Stored<Thing> => ({
  metadata: { name, namespace: 'n', uid, resourceVersion },
});

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const added = (name: string, version: string): string => line('ADDED', thing(name, version));
const modified = (name: string, version: string): string => line('MODIFIED', thing(name, version));
const deleted = (name: string, version: string): string => line('DELETED', thing(name, version));
const bookmark = (resourceVersion: string): string => line('BOOKMARK', { metadata: { resourceVersion } });
const initialEnd = (resourceVersion: string): string =>
  line('BOOKMARK', { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } });
const gone = line('ERROR', statusBody(410, 'Expired', 'too old resource version: 5 (9)'));

/** Sends this and keeps the watch open, as an API server does. */
const stream =
  (...parts: string[]): RequestHandler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(parts.join(''));
  };
/** Sends this, and then the watch ends: properly, or in the middle. */
const ending =
  (...parts: string[]): RequestHandler =>
  (_, response) =>
    void response.writeHead(200).end(parts.join(''));
const breaking =
  (...parts: string[]): RequestHandler =>
  (_, response) => {
    response.writeHead(200);
    response.write(parts.join(''), () => response.socket?.destroy());
  };
const list =
  (resourceVersion: string, ...items: Stored<Thing>[]): RequestHandler =>
  (_, response) =>
    respondJson(response, 200, { kind: 'ThingList', apiVersion: 'v1', metadata: { resourceVersion }, items });
const failing =
  (status: number, message = 'no', headers: object = {}): RequestHandler =>
  (_, response) =>
    respondJson(response, status, statusBody(status, 'Reason', message), headers);

/** The request in short: `list`, `all` (a WatchList) or the version watched from. */
function describeRequest({ query }: RecordedRequest): string {
  if (query.get('watch') !== 'true') return 'list';
  return query.get('sendInitialEvents') === 'true' ? 'all' : `from ${query.get('resourceVersion')}`;
}

interface Run {
  server: StandInServer;
  informer: Informer<Thing>;
  /** Every change that a listener received. */
  heard: string[];
  problems: unknown[];
  asks: () => string[];
  codes: () => (KubeErrorCode | 'other')[];
  abort: AbortController;
}

/** Runs an informer against a server that answers in sequence; after the last answer it is silent. */
async function following(
  answers: RequestHandler[],
  test: (run: Run) => Promise<void>,
  options: Partial<InformerOptions<Thing>> = {},
): Promise<void> {
  let turn = 0;
  await using server = await startStandInServer((seen, response) => {
    const answer = answers[turn] ?? silence;
    turn += 1;
    return answer(seen, response);
  });
  const transport = createTransport(server.access());
  const problems: unknown[] = [];
  const informer = createInformer(transport, { resource: things, onProblem: (e) => problems.push(e), ...options });
  const heard: string[] = [];
  informer.onChange((change) => {
    const { metadata } = change.type === 'deleted' ? change.old : change.object;
    heard.push(`${change.type} ${metadata.name} ${metadata.resourceVersion}`);
  });
  const abort = new AbortController();
  informer.start(abort.signal);
  try {
    await test({
      server,
      informer,
      heard,
      problems,
      asks: () => server.requests.map(describeRequest),
      codes: () => problems.map((problem) => (isKubeError(problem) ? problem.code : 'other')),
      abort,
    });
  } finally {
    abort.abort();
    await transport.close();
  }
}

const silence: RequestHandler = (_, response) => {
  response.writeHead(200);
  response.flushHeaders();
};

const namesIn = (informer: Informer<Thing>): string[] =>
  [...informer.store.values()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();

describe('an informer', () => {
  it('streams everything, then follows changes, from one request', async () => {
    const answer = stream(added('a', '1'), added('b', '2'), initialEnd('5'), modified('a', '6'), deleted('b', '7'));
    await following([answer], async ({ informer, heard, asks }) => {
      await informer.synced;
      await until(() => expect(heard).toHaveLength(4));
      expect(heard).toEqual(['added a 1', 'added b 2', 'updated a 6', 'deleted b 2']);
      expect(namesIn(informer)).toEqual(['a 6']);
      expect(asks()).toEqual(['all']);
      expect(informer.problem).toBeUndefined();
    });
  });

  it('lists first where many are expected, then watches from the version of the list', async () => {
    const answers = [list('5', thing('a', '1'), thing('b', '2')), stream(modified('a', '6'))];
    await following(
      answers,
      async ({ informer, asks, heard }) => {
        await informer.synced;
        await until(() => expect(heard).toHaveLength(3));
        expect(asks()).toEqual(['list', 'from 5']);
        expect(namesIn(informer)).toEqual(['a 6', 'b 2']);
      },
      { expect: 'many' },
    );
  });

  it('is not synced before everything has arrived', async () => {
    let finish: ((text: string) => void) | undefined;
    const answer: RequestHandler = (_, response) => {
      response.writeHead(200).write(added('a', '1'));
      finish = (text) => void response.write(text);
    };
    await following([answer], async ({ informer, heard }) => {
      let synced = false;
      void informer.synced.then(() => (synced = true));
      await until(() => expect(heard).toEqual(['added a 1']));
      expect(synced).toBe(false);
      finish?.(initialEnd('5'));
      await informer.synced;
    });
  });

  it('sets each object’s kind, which lists omit', async () => {
    const answers = [list('5', thing('a', '1')), stream(added('b', '6'))];
    await following(
      answers,
      async ({ informer }) => {
        await until(() => expect(informer.store.size).toBe(2));
        const kinds = [...informer.store.values()].map(({ kind, apiVersion }) => `${apiVersion} ${kind}`);
        expect(kinds).toEqual(['v1 Thing', 'v1 Thing']);
      },
      { expect: 'many' },
    );
  });

  describe('whose watch ends', () => {
    it('resumes after the last change it has seen, without reading everything again', async () => {
      const answers = [ending(added('a', '1'), initialEnd('5'), modified('a', '6')), stream(modified('a', '7'))];
      await following(answers, async ({ heard, asks, problems }) => {
        await until(() => expect(heard).toHaveLength(3));
        expect(heard).toEqual(['added a 1', 'updated a 6', 'updated a 7']);
        expect(asks()).toEqual(['all', 'from 6']);
        expect(problems).toEqual([]);
      });
    });

    it('resumes after the last bookmark', async () => {
      const answers = [ending(initialEnd('5'), bookmark('90')), silence];
      await following(answers, async ({ asks }) => {
        await until(() => expect(asks()).toEqual(['all', 'from 90']));
      });
    });

    it('in the middle of a line receives that change from the next watch, once', async () => {
      const cut = modified('a', '6');
      const answers = [breaking(added('a', '1'), initialEnd('5'), cut.slice(0, 30)), stream(cut, modified('a', '7'))];
      await following(answers, async ({ heard, asks, codes }) => {
        await until(() => expect(heard).toHaveLength(3));
        expect(heard).toEqual(['added a 1', 'updated a 6', 'updated a 7']);
        expect(asks()).toEqual(['all', 'from 5']);
        expect(codes()).toEqual(['SLW_KUBE_UNREACHABLE']);
      });
    });

    it('while everything is read reads all again; nothing is new twice', async () => {
      const answers = [
        breaking(added('a', '1'), added('b', '2')),
        stream(added('a', '1'), added('b', '2'), added('c', '3'), initialEnd('5')),
      ];
      await following(answers, async ({ informer, heard, asks }) => {
        await informer.synced;
        expect(heard).toEqual(['added a 1', 'added b 2', 'added c 3']);
        expect(asks()).toEqual(['all', 'all']);
      });
    });

    it('while a list is read reads it again; what was deleted meanwhile is deleted once', async () => {
      // Enough that some are returned before the rest has arrived.
      const many = Array.from({ length: 3000 }, (_, n) => thing(`a${n}`, String(n + 1)));
      const half: RequestHandler = (_, response) => {
        response.writeHead(200);
        const whole = JSON.stringify({ metadata: { resourceVersion: '3001' }, items: many });
        response.write(whole.slice(0, -60), () => response.socket?.destroy());
      };
      const answers = [half, list('4000', thing('a0', '1')), silence];
      await following(
        answers,
        async ({ informer, heard, asks }) => {
          await informer.synced;
          const of = (type: string): string[] =>
            heard.filter((one) => one.startsWith(type)).map((one) => one.slice(type.length));
          expect(of('added').length).toBeGreaterThan(1);
          expect(of('deleted')).toEqual(of('added').slice(1));
          expect(heard).toHaveLength(2 * of('added').length - 1);
          expect(namesIn(informer)).toEqual(['a0 1']);
          await until(() => expect(asks()).toEqual(['list', 'list', 'from 4000']));
        },
        { expect: 'many' },
      );
    });

    it('repeatedly and immediately is reopened less and less often', async () => {
      const hangUp = ending();
      await following([ending(initialEnd('5')), ...Array(20).fill(hangUp)], async ({ server, asks }) => {
        await until(() => expect(asks().length).toBeGreaterThanOrEqual(6));
        const times = server.requests.map(({ at }) => at);
        // 50, 100, 200, 400, 800 ms at least.
        expect((times[5] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1500);
        expect(new Set(asks().slice(1))).toEqual(new Set(['from 5']));
      });
    });

    it('repeatedly during the initial read is reopened less and less often too', async () => {
      const never = breaking(added('a', '1'), added('b', '2'));
      await following(Array(20).fill(never), async ({ server, asks }) => {
        await until(() => expect(asks().length).toBeGreaterThanOrEqual(5));
        const times = server.requests.map(({ at }) => at);
        expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(700);
      });
    });
  });

  describe('whose history is gone', () => {
    const after = [added('b', '2'), added('c', '8'), initialEnd('9')];

    it.each<[string, RequestHandler]>([
      ['in the middle of a watch', stream(added('a', '1'), added('b', '2'), initialEnd('5'), gone)],
      ['for the next watch', ending(added('a', '1'), added('b', '2'), initialEnd('5'))],
    ])('%s reads everything; what was removed meanwhile is deleted exactly once', async (when, first) => {
      const answers = [first, ...(when.startsWith('for') ? [failing(410, 'too old')] : []), stream(...after)];
      await following(answers, async ({ informer, heard, asks, codes }) => {
        await until(() => expect(namesIn(informer)).toEqual(['b 2', 'c 8']));
        expect(heard).toEqual(['added a 1', 'added b 2', 'added c 8', 'deleted a 1']);
        expect(asks().at(-1)).toBe('all');
        expect(codes()).toEqual(['SLW_KUBE_GONE']);
        expect(informer.problem).toBeUndefined();
      });
    });

    it('lists again if it listed first', async () => {
      const answers = [list('5', thing('a', '1')), failing(410), list('9', thing('b', '8')), silence];
      await following(
        answers,
        async ({ heard, asks }) => {
          await until(() => expect(asks()).toEqual(['list', 'from 5', 'list', 'from 9']));
          expect(heard).toEqual(['added a 1', 'added b 8', 'deleted a 1']);
        },
        { expect: 'many' },
      );
    });

    it('every time does not cause a tight loop of reads', async () => {
      const answers = Array.from({ length: 10 }, () => [list('5', thing('a', '1')), failing(410)]).flat();
      await following(
        answers,
        async ({ server, asks, heard }) => {
          await until(() => expect(asks().length).toBeGreaterThanOrEqual(9));
          const times = server.requests.map(({ at }) => at);
          expect((times[8] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(700);
          expect(heard).toEqual(['added a 1']);
        },
        { expect: 'many' },
      );
    });

    it('reports a recreated object as deleted and added', async () => {
      const anew = line('ADDED', thing('a', '8', 'another-uid'));
      await following([stream(added('a', '1'), initialEnd('5'), gone), stream(anew, initialEnd('9'))], async (run) => {
        await until(() => expect(run.heard).toHaveLength(3));
        expect(run.heard).toEqual(['added a 1', 'deleted a 1', 'added a 8']);
      });
    });
  });

  it.each([
    [500, 'RequestWatchProgress is disabled'],
    [400, 'sendInitialEvents is not known'],
    [
      422,
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    ],
  ])('lists if the server cannot stream everything (%i), without reporting a problem', async (status, message) => {
    const answers = [failing(status, message), list('5', thing('a', '1')), stream(modified('a', '6'))];
    await following(answers, async ({ informer, heard, asks, problems }) => {
      await informer.synced;
      await until(() => expect(heard).toEqual(['added a 1', 'updated a 6']));
      expect(asks()).toEqual(['all', 'list', 'from 5']);
      expect(problems).toEqual([]);
    });
  });

  it('waits as long as an overloaded server asks', async () => {
    const answers = [failing(429, 'later', { 'retry-after': '1' }), stream(initialEnd('5'))];
    await following(answers, async ({ informer, server, codes }) => {
      await informer.synced;
      const [first, second] = server.requests.map(({ at }) => at);
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(995);
      expect(codes()).toEqual(['SLW_KUBE_THROTTLED']);
    });
  });

  it.each<[string, string]>([
    ['no JSON', 'garbage\n'],
    ['null', 'null\n'],
    ['an event of no known type', line('RENAMED', thing('a', '6'))],
    ['an event without an object', '{"type":"ADDED"}\n'],
    ['an object without a name', line('ADDED', { metadata: { uid: 'x', resourceVersion: '6' } })],
    ['an object without a version', line('MODIFIED', { metadata: { name: 'a', uid: 'x' } })],
    ['a bookmark without a version', line('BOOKMARK', { metadata: {} })],
    ['a bookmark without an object', '{"type":"BOOKMARK"}\n'],
  ])('that receives %s opens a new watch from where it was', async (_, bad) => {
    const answers = [stream(added('a', '1'), initialEnd('5'), bad, modified('a', '99')), stream(modified('a', '7'))];
    await following(answers, async ({ heard, asks, codes }) => {
      await until(() => expect(heard).toEqual(['added a 1', 'updated a 7']));
      expect(asks()).toEqual(['all', 'from 5']);
      expect(codes()).toEqual(['SLW_KUBE_BAD_ANSWER']);
    });
  });

  it('rejects a response that is not a list, and keeps what it has', async () => {
    const page: RequestHandler = (_, response) => respondJson(response, 200, { message: 'please log in' });
    const answers = [list('5', thing('a', '1')), failing(410), page, list('9', thing('a', '1')), silence];
    await following(
      answers,
      async ({ heard, asks }) => {
        await until(() => expect(asks().at(-1)).toBe('from 9'));
        expect(heard).toEqual(['added a 1']);
      },
      { expect: 'many' },
    );
  });

  it('reads a stream that arrives byte by byte', async () => {
    const text = `${added('ä', '1')}${initialEnd('5')}`;
    const slowly: RequestHandler = async (_, response) => {
      response.writeHead(200);
      for (const byte of Buffer.from(text)) await sendByte(response, byte);
    };
    await following([slowly], async ({ informer, heard }) => {
      await informer.synced;
      expect(heard).toEqual(['added ä 1']);
    });
  });

  it('reports why it may be behind, until a watch is open again, even a silent one', async () => {
    const answers = [ending(initialEnd('5')), failing(500), silence];
    await following(answers, async ({ informer, asks }) => {
      await until(() => expect(informer.problem).toMatchObject({ code: 'SLW_KUBE_SERVER' }));
      await until(() => expect(asks()).toHaveLength(3));
      await until(() => expect(informer.problem).toBeUndefined());
    });
  });

  it('notifies every listener, even if one of them throws', async () => {
    await following([stream(added('a', '1'), initialEnd('5'), modified('a', '6'))], async (run) => {
      const broken = new Error('a listener broke');
      const others: string[] = [];
      run.informer.onChange(() => {
        throw broken;
      });
      run.informer.onChange(({ type }) => others.push(type));
      await until(() => expect(others).toEqual(['added', 'updated']));
      expect(run.problems).toEqual([broken, broken]);
      expect(run.asks()).toEqual(['all']);
    });
  });

  it('does not notify listeners that have unsubscribed', async () => {
    await following([stream(added('a', '1'), initialEnd('5'), modified('a', '6'))], async ({ informer, heard }) => {
      const before: string[] = [];
      const leave = informer.onChange(({ type }) => {
        before.push(type);
        leave();
      });
      await until(() => expect(heard).toHaveLength(2));
      expect(before).toEqual(['added']);
    });
  });

  it('stores only what the projection returns', async () => {
    const whole = { ...thing('a', '1'), value: 'large', extra: 1 };
    const project = ({ metadata }: Stored<Thing>): Stored<Thing> => ({ metadata });
    await following(
      [stream(line('ADDED', whole), initialEnd('5'))],
      async ({ informer }) => {
        await informer.synced;
        expect([...informer.store.values()]).toEqual([{ metadata: whole.metadata }]);
      },
      { project },
    );
  });

  it('does not report a change that the projection hides, and stores its version', async () => {
    const project = ({ metadata, value = '' }: Stored<Thing>): Stored<Thing> => ({ metadata, value });
    const of = (version: string, value: string, extra: number): object => ({ ...thing('a', version), value, extra });
    const lines = [
      line('ADDED', of('1', 'x', 1)),
      initialEnd('5'),
      line('MODIFIED', of('6', 'x', 2)),
      line('MODIFIED', of('7', 'y', 2)),
      line('MODIFIED', of('8', 'y', 3)),
    ];
    await following(
      [stream(...lines)],
      async ({ informer, heard }) => {
        await until(() => expect(namesIn(informer)).toEqual(['a 8']));
        expect(heard).toEqual(['added a 1', 'updated a 7']);
      },
      { project },
    );
  });

  it.each<[string, RequestHandler]>([
    ['while a watch is open', stream(initialEnd('5'))],
    ['while no answer has come', () => {}],
    ['while everything is read', stream(added('a', '1'))],
    ['while it waits to try again', failing(429, 'later', { 'retry-after': '60', connection: 'close' })],
  ])('stops immediately when aborted, and closes its connection: %s', async (_, answer) => {
    await following([answer], async ({ server, abort, codes }) => {
      await until(() => expect(server.requests).toHaveLength(1));
      const began = performance.now();
      abort.abort();
      await until(() => expect(server.openSockets).toBe(0));
      expect(performance.now() - began).toBeLessThan(7000);
      expect(codes().filter((code) => code !== 'SLW_KUBE_THROTTLED')).toEqual([]);
    });
  });
});

function sendByte(response: ServerResponse, byte: number): Promise<void> {
  return new Promise((resolve) => {
    response.write(Buffer.from([byte]), () => setImmediate(resolve));
  });
}

describe('how far the store is', () => {
  it('is reported after every event, even one that changes nothing stored', async () => {
    const bare = ({ metadata: { name, namespace = '', uid, resourceVersion } }: Stored<Thing>): Stored<Thing> => ({
      metadata: { name, namespace, uid, resourceVersion },
    });
    const labelled = line('MODIFIED', { metadata: { ...thing('a', '8').metadata, labels: { changed: '' } } });
    const answers = [stream(added('a', '5'), initialEnd('7'), labelled, bookmark('9'), deleted('a', '10'))];
    await following(
      answers,
      async ({ informer, heard }) => {
        const seen: string[] = [];
        expect(informer.version).toBeUndefined();
        informer.onProgress((key) => {
          const there = informer.store.get('n/a')?.metadata.resourceVersion;
          seen.push(`${key} ${there} of ${informer.version}`);
        });
        await until(() => expect(seen.length).toBe(5));
        expect(seen).toEqual([
          'n/a 5 of undefined',
          'undefined 5 of 7',
          'n/a 8 of 8',
          'undefined 8 of 9',
          'n/a undefined of 10',
        ]);
        expect(heard).toEqual(['added a 5', 'deleted a 8']);
      },
      { project: bare },
    );
  });

  it('is known after a list, and not while everything is read again', async () => {
    const answers = [list('7', thing('a', '5')), stream(gone), silence];
    await following(
      answers,
      async ({ informer, asks }) => {
        await informer.synced;
        expect(informer.version).toBe('7');
        await until(() => expect(asks()).toEqual(['list', 'from 7', 'list']));
        expect(informer.version).toBeUndefined();
      },
      { expect: 'many' },
    );
  });

  it('is reported to others if one listener throws, and not to those that have unsubscribed', async () => {
    const answers = [stream(added('a', '5'), initialEnd('7'))];
    await following(answers, async ({ informer, problems }) => {
      let heard = 0;
      informer.onProgress(() => {
        throw new Error('oops');
      });
      informer.onProgress(() => (heard += 1));
      informer.onProgress(() => (heard += 100))();
      await until(() => expect(heard).toBe(2));
      expect(problems.length).toBe(2);
    });
  });
});
