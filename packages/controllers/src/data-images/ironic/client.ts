import { type Backoff, backoffMs, halfJitter } from '@slipway/base/backoff';
import { type Clock, systemClock } from '@slipway/base/clock';
import type { Ironic, IronicOptions, DesiredNode } from '@slipway/fleet/hosts';
import { nodeFields, readDrive, readNode } from './answers.ts';
import { IronicError, isIronicError } from './ironic-error.ts';
import { type IronicResponse, type Call, createTransport, parseEndpoint } from './transport.ts';

/** Attaching needs 1.89, reading what is attached 1.93. No later version changes what we use. */
const MIN_MINOR_VERSION = 93;

const header = (name: 'minimum' | 'maximum') => `x-openstack-ironic-api-${name}-version`;

const VERSION_HEADER = 'x-openstack-ironic-api-version';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Picks the oldest version that suffices, because its behaviour is settled. */
export function negotiate(headers: Headers, asked: string): string {
  const least = parseMinorVersion(headers[header('minimum')]);
  const most = parseMinorVersion(headers[header('maximum')]);
  if (least === undefined || most === undefined) {
    const text = `expected the API versions in its response headers, found none. Check that this is Ironic's address, and that proxies forward its headers`;
    throw new IronicError('SLW_IRONIC_ANSWER', text, { asked });
  }
  if (most < MIN_MINOR_VERSION) {
    const text = `expected version 1.${MIN_MINOR_VERSION} or newer of its API, found 1.${least} to 1.${most}. Use Ironic 26.1 (2024.2) or newer`;
    throw new IronicError('SLW_IRONIC_VERSION', text, { asked });
  }
  return `1.${Math.max(MIN_MINOR_VERSION, least)}`;
}

function parseMinorVersion(value: string | readonly string[] | undefined): number | undefined {
  const found = typeof value === 'string' ? /^1\.(\d{1,6})$/.exec(value) : null;
  return found === null ? undefined : Number(found[1]);
}

const defaults = { timeoutMs: 30_000, driveTimeoutMs: 120_000, conflictRetries: 4 };

const betweenConflicts: Backoff = { firstMs: 250, maxMs: 30_000, jitter: halfJitter };

/** Tests inject a clock. */
export function createIronic(options: IronicOptions, clock: Pick<Clock, 'sleep'> = systemClock): Ironic {
  const { timeoutMs, driveTimeoutMs, conflictRetries } = withDefaults(options);
  const endpoint = parseEndpoint(options.url);
  const transport = createTransport({ endpoint, ca: options.ca, auth: options.auth });
  let version: Promise<string> | undefined;

  /** Requested once: concurrent first calls share the result, and a failure is not cached. */
  function getVersion(): Promise<string> {
    version ??= transport
      .send({ method: 'GET', path: '/v1', timeoutMs })
      .then(({ headers, asked }) => negotiate(headers, asked))
      .catch((error: unknown) => {
        version = undefined;
        throw error;
      });
    return version;
  }

  async function sendOnce(call: Call): Promise<IronicResponse> {
    return transport.send({ ...call, headers: { [VERSION_HEADER]: await getVersion() } });
  }

  /** Another Ironic, older or newer, may have this address by now: then the version is negotiated again. */
  async function send(call: Call): Promise<IronicResponse> {
    try {
      return await sendOnce(call);
    } catch (error) {
      if (!isIronicError(error, 'SLW_IRONIC_VERSION') || error.status !== 406) throw error;
      version = undefined;
      return sendOnce(call);
    }
  }

  /** A locked node did not receive the call, so it is safe to repeat. Ironic's other conflicts look the same. */
  async function change(call: Omit<Call, 'timeoutMs'>): Promise<void> {
    for (let round = 0; ; round += 1) {
      try {
        await send({ ...call, timeoutMs });
        return;
      } catch (error) {
        if (round >= conflictRetries || !isIronicError(error, 'SLW_IRONIC_CONFLICT')) throw error;
        await clock.sleep(backoffMs(betweenConflicts, round + 1), call.signal);
      }
    }
  }

  return {
    async node(id, signal) {
      const path = `${formatNodePath(id)}?fields=${nodeFields}`;
      try {
        const { body, asked } = await send({ method: 'GET', path, timeoutMs, signal });
        return readNode(body, asked);
      } catch (error) {
        if (isIronicError(error, 'SLW_IRONIC_NOT_FOUND')) return null;
        throw error;
      }
    },
    register({ name, ...wanted }, signal) {
      const body = {
        name,
        driver: wanted.driver,
        driver_info: wanted.driverInfo,
        extra: { slipway: buildOwnExtra(wanted) },
      };
      return change({ method: 'POST', path: '/v1/nodes', body, signal, secrets: listSecrets(wanted) });
    },
    update(uuid, wanted, signal) {
      // `add` also replaces. One document: Ironic applies all of it or nothing.
      const body = [
        { op: 'add', path: '/driver', value: wanted.driver },
        { op: 'add', path: '/driver_info', value: wanted.driverInfo },
        { op: 'add', path: '/extra/slipway', value: buildOwnExtra(wanted) },
      ];
      return change({ method: 'PATCH', path: formatNodePath(uuid), body, signal, secrets: listSecrets(wanted) });
    },
    provision: (uuid, target, signal) =>
      change({ method: 'PUT', path: `${formatNodePath(uuid)}/states/provision`, body: { target }, signal }),
    power(uuid, target, { withinMs, signal } = {}) {
      const timeout = withinMs === undefined ? {} : { timeout: Math.max(1, Math.ceil(withinMs / 1000)) };
      return change({
        method: 'PUT',
        path: `${formatNodePath(uuid)}/states/power`,
        body: { target, ...timeout },
        signal,
      });
    },
    setMaintenance(uuid, maintenance, signal) {
      const path = `${formatNodePath(uuid)}/maintenance`;
      return maintenance
        ? change({ method: 'PUT', path, body: { reason: 'Slipway is about to delete this node' }, signal })
        : change({ method: 'DELETE', path, signal });
    },
    async remove(uuid, signal) {
      await change({ method: 'DELETE', path: formatNodePath(uuid), signal }).catch((error: unknown) => {
        if (!isIronicError(error, 'SLW_IRONIC_NOT_FOUND')) throw error;
      });
    },
    async drive(uuid, signal) {
      const call = {
        method: 'GET',
        path: `${formatNodePath(uuid)}/vmedia`,
        timeoutMs: driveTimeoutMs,
        signal,
      } as const;
      const { body, asked } = await send(call);
      return readDrive(body, asked);
    },
    attach(uuid, url, signal) {
      const body = { device_type: 'cdrom', image_url: url };
      return change({ method: 'POST', path: `${formatNodePath(uuid)}/vmedia`, body, signal });
    },
    detach: (uuid, signal) =>
      change({ method: 'DELETE', path: `${formatNodePath(uuid)}/vmedia?device_types=cdrom`, signal }),
    close: () => transport.close(),
  };
}

const formatNodePath = (id: string): string => `/v1/nodes/${encodeURIComponent(id)}`;

const buildOwnExtra = ({ hostUid, digest }: Omit<DesiredNode, 'name'>) => ({ uid: hostUid, digest });

/** What Ironic also masks when it shows a node. */
const listSecrets = ({ driverInfo }: Omit<DesiredNode, 'name'>): string[] =>
  Object.entries(driverInfo).flatMap(([key, value]) =>
    key.includes('password') && typeof value === 'string' ? [value] : [],
  );

function withDefaults(options: IronicOptions): typeof defaults {
  const given = Object.entries(options).filter(([name, value]) => name in defaults && value !== undefined);
  const all: typeof defaults = Object.assign({ ...defaults }, Object.fromEntries(given));
  for (const [name, value] of Object.entries(all)) {
    if (Number.isFinite(value) && value >= (name === 'conflictRetries' ? 0 : 1)) continue;
    const text = `option ${name} of the Ironic client: expected a number above 0, found ${value}`;
    throw new IronicError('SLW_IRONIC_OPTIONS', text);
  }
  return all;
}
