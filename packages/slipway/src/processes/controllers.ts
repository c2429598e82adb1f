// All that the command has from the controllers: this file wires them, and no other imports them.
import type { Server } from 'node:http';
import {
  bootImagesControllers,
  builtInControllers,
  certificatesController,
  createIronic,
  dataImagesController,
  drainController,
  machineConfigNodesController,
  osStreamsControllers,
  parseAuth,
  pinnedImagesControllers,
  provisioningControllers,
  registryWith,
  remoteContentController,
  renderController,
  renderedConfigsController,
  renderedCopiesController,
  rolloutController,
  type WatchedFeatureGates,
  watchFeatureGates,
} from '@slipway/controllers';
import { type FeatureGateSettings, firstBootOptions, type FirstBootSettings, namedImages } from '@slipway/fleet';
import type { Ironic } from '@slipway/fleet/hosts';
import {
  type ControllerDef,
  createClient,
  createManager,
  createMetrics,
  createRecorder,
  type Gates,
  type Log,
  type Metrics,
  serveProbes,
  type Transport,
} from '@slipway/kube';
import type { RegistryOptions } from '@slipway/registry';
import { CommandError } from '../cli/errors.ts';
import { readSmallText } from '../cli/io.ts';
import type { IronicFlags } from '../cli/options.ts';
import { version } from '../cli/program.ts';

/** What people may set about the controllers; the rest is in the cluster. */
export interface ControllerSettings extends Omit<FirstBootSettings, 'namespace' | 'serverHosts' | 'tokens'> {
  /** Before those of the ConfigMap machine-config-osimageurl. */
  osImage?: string | undefined;
  osExtensionsImage?: string | undefined;
  /** The image machines take the slipway program from. */
  daemonImage?: string | undefined;
  keepRendered: number;
  /** The node that the controllers run on: it changes last. */
  ownNode?: string | undefined;
  /** Where remote content of MachineConfigs may come from. */
  allowHost?: string[] | undefined;
  allowAddress?: string[] | undefined;
  /** More names for the server's certificate. */
  serverHost?: string[] | undefined;
  /** Whether stubs have tokens, where it was said. */
  stubTokens?: boolean | undefined;
  /** Where OS image streams come from, where there is no ClusterVersion. */
  releaseImage?: string | undefined;
  /** The Secret with the cluster's pull secret, where it is another than the usual one. */
  pullSecret?: { namespace: string; name: string } | undefined;
  /** A new boot image must bring up one machine before a MachineSet gets it. */
  bootImageCanary?: boolean | undefined;
  /** How registries are spoken to. */
  registry?: Omit<RegistryOptions, 'credentials'> | undefined;
  /** How bare-metal hosts are reached; left out: they are left alone. */
  ironic?: IronicSettings | undefined;
}

/** What the controllers share with who runs them. */
export interface RuntimeDeps {
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/** Every controller there is; one folder each in packages/controllers. */
function buildControllers(
  namespace: string,
  settings: ControllerSettings,
  { gates, metrics }: RuntimeDeps,
): ControllerDef[] {
  const { osImage, osExtensionsImage, releaseImage, daemonImage, keepRendered, allowHost, allowAddress } = settings;
  const hosts = {
    ...(allowHost !== undefined && { allowHosts: allowHost }),
    ...(allowAddress !== undefined && { allowAddresses: allowAddress }),
  };
  const osImages = namedImages({ osImage, osExtensionsImage });
  const firstBoot = { ...settings, namespace, serverHosts: settings.serverHost, tokens: settings.stubTokens };
  const { machineApiNamespace, clusterApiNamespace } = firstBootOptions(firstBoot);
  return [
    ...builtInControllers({ controllerVersion: version, daemonImage }),
    remoteContentController({ namespace, hosts }),
    renderController({ namespace, controllerVersion: version, osImages, releaseImage, gates }),
    renderedConfigsController({ keep: keepRendered }),
    renderedCopiesController({ namespace }),
    rolloutController({ ownNode: settings.ownNode, metrics, gates }),
    machineConfigNodesController(),
    drainController({ metrics }),
    certificatesController(firstBoot),
    ...provisioningControllers(firstBoot),
    ...osStreamsControllers({
      namespace,
      controllerVersion: version,
      osImage,
      osExtensionsImage,
      releaseImage,
      pullSecret: settings.pullSecret,
      registry: registryWith(settings.registry ?? {}),
      gates,
    }),
    ...bootImagesControllers({
      namespace,
      machineApiNamespace,
      clusterApiNamespace,
      controllerVersion: version,
      osImages,
      releaseImage,
      gates,
      metrics,
      canary: settings.bootImageCanary,
    }),
    ...pinnedImagesControllers({ metrics }),
    ...(settings.ironic === undefined
      ? []
      : [
          dataImagesController({
            ironic: settings.ironic.open,
            besideOperator: settings.ironic.besideOperator,
            metrics,
          }),
        ]),
  ];
}

export interface RunOptions {
  transport: Transport;
  namespace: string;
  featureGates: FeatureGateSettings;
  settings: ControllerSettings;
  log: Log;
  /** Carries the renewals of the lease, so that they never wait behind other requests. Left out: no election. */
  electionTransport?: Transport | undefined;
  /** Where /healthz, /readyz and /metrics are served; left out: nowhere. */
  probes?: { host: string; port: number } | undefined;
}

export interface RunningControllers {
  gates: WatchedFeatureGates;
  ready(): boolean;
  stop(): Promise<void>;
}

export async function runControllers(options: RunOptions): Promise<RunningControllers> {
  const { transport, namespace, log } = options;
  const stopped = new AbortController();
  const client = createClient(transport);
  const metrics = createMetrics();
  const events = createRecorder(client, { component: 'slipway-controllers', log, metrics });
  const gates = watchFeatureGates(transport, { flags: options.featureGates, log, signal: stopped.signal });
  await gates.known;
  const manager = createManager({
    client,
    controllers: buildControllers(namespace, options.settings, { gates, metrics }),
    events,
    log,
    metrics,
    gates,
    election:
      options.electionTransport === undefined
        ? undefined
        : { client: createClient(options.electionTransport), lease: { namespace, name: 'slipway-controllers' } },
  });
  manager.start();
  const server: Server | undefined =
    options.probes === undefined
      ? undefined
      : await serveProbes({ ...options.probes, metrics, ready: manager.ready, live: manager.live });
  return {
    gates,
    ready: () => manager.ready().ok,
    async stop() {
      await manager.stop();
      stopped.abort();
      server?.close();
      await options.electionTransport?.close();
      await transport.close();
    },
  };
}

export interface IronicSettings {
  /** Opens no connection yet. */
  readonly open: () => Ironic;
  readonly besideOperator: boolean;
}

/** The client for Ironic, as the flags of a command ask for it. Reads what they name; undefined: bare-metal hosts are left alone. */
export async function ironicSettings(flags: IronicFlags): Promise<IronicSettings | undefined> {
  const { ironicUrl: url, ironicCa, ironicAuth, dataImagesBesideOperator: besideOperator = false } = flags;
  if (url === undefined) {
    refuseOthers(flags);
    return undefined;
  }
  const auth = await readSmallText('--ironic-auth', ironicAuth);
  const options = {
    url,
    ca: await readSmallText('--ironic-ca', ironicCa),
    auth: auth === undefined ? undefined : parseAuth(auth),
  };
  // What is wrong with them is said now, and not when the first host comes.
  await createIronic(options).close();
  return { open: () => createIronic(options), besideOperator };
}

function refuseOthers({ ironicCa, ironicAuth, dataImagesBesideOperator }: IronicFlags): void {
  const given = [
    ironicCa !== undefined && '--ironic-ca',
    ironicAuth !== undefined && '--ironic-auth',
    dataImagesBesideOperator === true && '--data-images-beside-operator',
  ].find((flag) => flag !== false);
  if (given === undefined) return;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `${given} says how Ironic is used: expected --ironic-url with it, found none`,
  );
}

// What commands do as the controllers do it, without a cluster.
export { createFetcher } from '@slipway/controllers';
