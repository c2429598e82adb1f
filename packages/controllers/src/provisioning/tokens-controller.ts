import { randomBytes } from 'node:crypto';
import { secrets } from '@slipway/api';
import { type FirstBootOptions, nextTokens, readTokens, serverSecrets, untilDue } from '@slipway/fleet';
import { again, type ControllerDef, done } from '@slipway/kube';
import { putSecret, textIn } from '../managed-secret.ts';
import { listPoolNames, poolSource } from '../sources.ts';

const ALL_TOKENS = 'tokens';
const name = serverSecrets.tokens;

/** Maintains the provisioning tokens of every pool in one Secret, which the server and the stubs read. */
export function tokensController(options: FirstBootOptions): ControllerDef {
  const { namespace, tokenLifetime } = options;
  return {
    name: 'provisioning-tokens',
    reads: [
      { ...poolSource, keysOf: () => [ALL_TOKENS] },
      {
        resource: secrets,
        as: 'metadata',
        namespace,
        fieldSelector: `metadata.name=${name}`,
        keysOf: () => [ALL_TOKENS],
      },
    ],
    owns: [{ resource: secrets }],
    startsWith: [ALL_TOKENS],
    async reconcile(_, { read, client, write, events, log, now }) {
      if (!options.tokens) return done();
      const stored = await client.find(secrets, { namespace, name });
      const data: Record<string, string> = {};
      const damaged: string[] = [];
      let due = Infinity;
      for (const pool of listPoolNames(read)) {
        const text = (stored === undefined ? undefined : textIn(stored, pool)) ?? '[]';
        const kept = readTokens(text);
        if (kept === undefined) damaged.push(pool);
        const next = nextTokens(kept ?? [], now().getTime(), tokenLifetime, mint);
        data[pool] = JSON.stringify(next.tokens);
        due = Math.min(due, next.due);
      }
      const written = await putSecret(write, stored, { name: { namespace, name }, type: 'Opaque', data });
      for (const pool of damaged) {
        const message = `Secret ${namespace}/${name}: ${pool}: expected a JSON list of tokens, found something else. Slipway created a new token. The server rejects machines of the pool with an earlier token until they get the current stub`;
        log.warn({ pool }, message);
        events.record(secrets, written, { type: 'Warning', reason: 'TokensDamaged', message });
      }
      return again(untilDue(due, now()));
    },
  };
}

const mint = (): string => randomBytes(32).toString('base64url');
