// What Ignition fetches at the first boot of a machine: from its user data to one config with everything in it.
import { createFetcher } from '@slipway/controllers';
import { RENDERED_VERSION, type RenderedIgnition } from '@slipway/fleet';
import { parse, type Report, resolve, translate } from '@slipway/ignition';
import { CommandError } from '../cli/errors.ts';

/** The server answers 503 until the pool is rendered, and when many come at once; the real client asks again as well. */
const fetch = createFetcher({ attempts: 60, backoffMs: 250 });
const TIME_MS = 180_000;

/** Rejects with a CommandError that names the machine. */
export async function fetchFirstConfig(
  machine: string,
  userData: string,
  signal: AbortSignal,
): Promise<RenderedIgnition> {
  const stub = parse(userData);
  if (stub.config === null) throw unborn(machine, `its user data is no Ignition config: ${firstOf(stub.report)}`);
  const resolved = await resolve(stub.config, {
    name: `user data of ${machine}`,
    fetch,
    // The server of `npm start` is on this machine, which a config may else not name.
    hosts: { allowAddresses: ['127.0.0.0/8', '::1/128'] },
    limits: { timeMs: TIME_MS },
    signal,
  });
  signal.throwIfAborted();
  if (resolved.config === null) throw unborn(machine, firstOf(resolved.report));
  const { config, report } = translate(resolved.config, RENDERED_VERSION);
  if (config === null) throw unborn(machine, firstOf(report));
  return config;
}

const firstOf = (report: readonly { message: string }[] | Report): string =>
  report[0]?.message ?? 'no reason was given';

function unborn(machine: string, why: string): CommandError {
  return new CommandError(
    'SLW_CLI_BIRTH',
    `the simulated machine ${machine} cannot be born: ${why}. The log of the server says what it answered; \`npm start -- --fresh\` begins anew`,
  );
}
