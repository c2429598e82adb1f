import { machineConfigPools, namespaces, type Secret, secrets } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import {
  type FirstBootOptions,
  firstBootOptions,
  type FirstBootSettings,
  isManaged,
  readTokens,
  serverAddress,
  serverSecrets,
  buildStub,
} from '@slipway/fleet';
import { type AnyConfig, parse } from '@slipway/ignition';
import {
  type Client,
  type Context,
  type ControllerDef,
  done,
  type EventInput,
  type StoreReader,
  type Source,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { putSecret, textIn } from '../managed-secret.ts';
import { findInfrastructure, infrastructureSource, listPoolNames, poolSource } from '../sources.ts';
import { bootstrapKubeconfigController } from './bootstrap-kubeconfig-controller.ts';
import { tokensController } from './tokens-controller.ts';

/** Everything that a new machine needs to find and trust the machine config server, to be admitted, and to join. */
export function provisioningControllers(settings: FirstBootSettings): ControllerDef[] {
  const options = firstBootOptions(settings);
  return [tokensController(options), stubsController(options), bootstrapKubeconfigController(options)];
}

const SUFFIX = '-user-data-managed';
/** The digest of what we wrote last, to detect changes by other clients. */
const DIGEST_ANNOTATION = 'slipway.dev/stub-digest';

/** Maintains the stub of every pool in the machine namespaces: the user data that new machines start with. */
function stubsController(options: FirstBootOptions): ControllerDef {
  const machineNamespaces = [...new Set([options.machineApiNamespace, options.clusterApiNamespace])];
  /** Pools whose missing server address was reported: once per process is enough. */
  const reported = new Set<string>();
  return {
    name: 'stubs',
    reads: [poolSource, ...listSources(options.namespace, machineNamespaces)],
    owns: [{ resource: secrets }],
    async reconcile(name, context) {
      const pool = context.read(machineConfigPools).get(name);
      const stub = pool === undefined ? undefined : await buildDesiredStub(name, options, context);
      if (stub === 'no address' && pool !== undefined && !reported.has(pool.metadata.uid)) {
        reported.add(pool.metadata.uid);
        reportNoAddress(pool.metadata, context);
      }
      for (const namespace of machineNamespaces) {
        const place = { namespace, name: `${name}${SUFFIX}` };
        if (pool === undefined) await removeStub(place, context);
        else if (typeof stub === 'object')
          await keepStub(name, place, buildStubData(stub.text, namespace, options), context);
      }
      return done();
    },
  };
}

function listSources(namespace: string, machineNamespaces: readonly string[]): Source[] {
  const everyPool = (_: unknown, read: StoreReader): string[] => listPoolNames(read);
  const ingredients = [serverSecrets.authority, serverSecrets.tokens].map((name): Source => ({
    resource: secrets,
    as: 'metadata',
    namespace,
    fieldSelector: `metadata.name=${name}`,
    keysOf: everyPool,
  }));
  const places = machineNamespaces.flatMap((name): Source[] => [
    { resource: namespaces, as: 'metadata', fieldSelector: `metadata.name=${name}`, keysOf: everyPool },
    {
      resource: secrets,
      as: 'metadata',
      namespace: name,
      keysOf: ({ metadata }) => (metadata.name.endsWith(SUFFIX) ? [metadata.name.slice(0, -SUFFIX.length)] : []),
    },
  ]);
  return [...ingredients, ...places, { ...infrastructureSource, keysOf: everyPool }];
}

/** The stub's text; `waiting` for the CA or the token, whose arrival triggers the next reconcile. */
async function buildDesiredStub(
  pool: string,
  options: FirstBootOptions,
  { client, read }: Context,
): Promise<{ text: string } | 'no address' | 'waiting'> {
  const address = serverAddress(options, findInfrastructure(read));
  if (address === undefined) return 'no address';
  const { namespace } = options;
  const authority = await client.find(secrets, { namespace, name: serverSecrets.authority });
  const caBundle = authority === undefined ? '' : (textIn(authority, 'ca-bundle.crt') ?? '');
  if (caBundle === '') return 'waiting';
  const request = { server: address.url, pool, caBundle };
  if (!options.tokens) return { text: JSON.stringify(buildStub(request)) };
  const token = await findNewestToken(client, namespace, pool);
  return token === undefined ? 'waiting' : { text: JSON.stringify(buildStub({ ...request, token })) };
}

async function findNewestToken(client: Client, namespace: string, pool: string): Promise<string | undefined> {
  const stored = await client.find(secrets, { namespace, name: serverSecrets.tokens });
  const [newest] = readTokens((stored === undefined ? undefined : textIn(stored, pool)) ?? '[]') ?? [];
  return newest?.token;
}

type StubData = Record<string, string>;

/** In the format of the namespace's machine controllers. Both formats if the two APIs share the namespace. */
const buildStubData = (text: string, namespace: string, options: FirstBootOptions): StubData => ({
  ...(namespace === options.machineApiNamespace ? { userData: text, disableTemplating: 'true' } : {}),
  ...(namespace === options.clusterApiNamespace ? { value: text, format: 'ignition' } : {}),
});

interface StubLocation {
  namespace: string;
  name: string;
}

async function keepStub(pool: string, place: StubLocation, data: StubData, context: Context): Promise<void> {
  const { client, write, events, log } = context;
  if (!(await isUsable(client, place.namespace))) return;
  const existing = await client.find(secrets, place);
  const step = nextStub(existing === undefined ? undefined : observeStub(existing, data, pool));
  if (step === 'keep') return;
  if (step === 'take over' && existing !== undefined) await keepCopy(write, existing, formatCopyName(place.name));
  const annotations = { [DIGEST_ANNOTATION]: computeStubDigest(data) };
  const written =
    step === 'leave alone' && existing !== undefined
      ? existing
      : await putSecret(write, existing, { name: place, type: 'Opaque', data, annotations });
  const event = buildStubEvent(step, pool, place);
  log[event.type === 'Warning' ? 'warn' : 'info']({ pool, namespace: place.namespace }, event.message);
  events.record(secrets, written, event);
}

/** The Secret that has the name of a stub. */
export interface ObservedStub {
  /** It has our label. */
  managed: boolean;
  /** Its data is what we wrote last. */
  intact: boolean;
  /** Its data is up to date. */
  current: boolean;
  /** It is a stub of this pool, by any writer. */
  pointsAtPool: boolean;
}

function observeStub(existing: Secret, data: StubData, pool: string): ObservedStub {
  const found = Object.fromEntries(Object.keys(existing.data ?? {}).map((key) => [key, textIn(existing, key) ?? '']));
  const digest = computeStubDigest(found);
  return {
    managed: isManaged(existing),
    intact: existing.metadata.annotations?.[DIGEST_ANNOTATION] === digest,
    current: digest === computeStubDigest(data),
    pointsAtPool: ['userData', 'value'].some((key) => pointsAt(found[key] ?? '', pool)),
  };
}

export type StubStep =
  | 'create'
  | 'keep'
  /** The CA, the token or the address changed. */
  | 'renew'
  /** Another client changed it. */
  | 'put back'
  /** Another operator's stub of this pool: Slipway takes it over, with a copy of the old data. */
  | 'take over'
  /** An unrelated Secret with that name: ignored. */
  | 'leave alone';

export function nextStub(kept: ObservedStub | undefined): StubStep {
  if (kept === undefined) return 'create';
  if (!kept.managed) return kept.pointsAtPool ? 'take over' : 'leave alone';
  if (!kept.intact) return 'put back';
  return kept.current ? 'keep' : 'renew';
}

const limits = { size: 64 * 1024, depth: 50, values: 2000 };

/** Whether this is an Ignition config that references the path /config/<pool> of any server. */
export function pointsAt(text: string, pool: string): boolean {
  const { config } = parse(text, limits);
  const sources = config === null ? [] : mergedSources(config);
  return sources.some((source) => URL.canParse(source) && new URL(source).pathname === `/config/${pool}`);
}

function mergedSources({ ignition }: AnyConfig): string[] {
  const { config = {} } = ignition;
  const references = [
    ...('merge' in config ? (config.merge ?? []) : []),
    ...('append' in config ? (config.append ?? []) : []),
    ...(config.replace === undefined ? [] : [config.replace]),
  ];
  return references.flatMap(({ source }) => source ?? []);
}

const computeStubDigest = (data: StubData): string =>
  sha256(JSON.stringify(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))));

/** Nothing can be created in a namespace that does not exist, or is terminating. */
async function isUsable(client: Client, name: string): Promise<boolean> {
  const namespace = await client.find(namespaces, { name });
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

const formatCopyName = (name: string): string => `${name}-before-slipway`;

/** The first copy counts: an existing one is from a run that stopped between the two writes. */
async function keepCopy(write: Writer, { metadata, type, data }: Stored<Secret>, name: string): Promise<void> {
  const copy = {
    metadata: { name, ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }) },
    ...(type === undefined ? {} : { type }),
    ...(data === undefined ? {} : { data }),
  };
  await write.createIfAbsent(secrets, copy);
}

/** The stub of a deleted pool would send machines to a server that does not serve the pool. */
async function removeStub(place: StubLocation, { client, write }: Context): Promise<void> {
  const existing = await client.find(secrets, place);
  if (existing !== undefined && isManaged(existing)) await write.remove(secrets, existing);
}

function buildStubEvent(step: Exclude<StubStep, 'keep'>, pool: string, { namespace, name }: StubLocation): EventInput {
  const stub = `Secret ${namespace}/${name}`;
  const texts: Record<typeof step, EventInput> = {
    create: {
      type: 'Normal',
      reason: 'StubMade',
      message: `${stub}: Slipway created it for new machines of pool ${pool}`,
    },
    renew: {
      type: 'Normal',
      reason: 'StubRenewed',
      message: `${stub}: Slipway updated it to the current CA, token and address`,
    },
    'put back': {
      type: 'Warning',
      reason: 'StubPutBack',
      message: `${stub}: another client changed it, and Slipway restored it. For machines with other user data, use a Secret with another name`,
    },
    'take over': {
      type: 'Normal',
      reason: 'StubTakenOver',
      message: `${stub}: Slipway took over another operator's stub of pool ${pool}. The old data is in Secret ${namespace}/${formatCopyName(name)}`,
    },
    'leave alone': {
      type: 'Warning',
      reason: 'StubNotOurs',
      message: `${stub}: expected a stub of pool ${pool}, found a Secret that is not a stub and does not have Slipway's label. Slipway does not change it. To get a stub, delete this Secret`,
    },
  };
  return texts[step];
}

function reportNoAddress({ name, uid }: { name: string; uid: string }, { events, log }: Context): void {
  const message = `MachineConfigPool ${name}: new machines get no stub, because the address of the machine config server is unknown. Start the controller with --server-url https://HOST:22623 (on OpenShift the default is status.apiServerInternalURI of Infrastructure cluster)`;
  log.warn({ pool: name }, message);
  events.record(
    machineConfigPools,
    { metadata: { name, uid } },
    { type: 'Warning', reason: 'NoServerAddress', message },
  );
}
