// Wires the controllers. No other file of the command imports them.
import type { Server } from 'node:http';
import {
  bootImagesControllers,
  builtInControllers,
  certificatesController,
  clusterOperatorController,
  createIronic,
  dataImagesController,
  disruptionPolicyController,
  drainController,
  machineConfigNodesController,
  osStreamsControllers,
  parseAuth,
  pinnedImagesControllers,
  provisioningControllers,
  registryWith,
  remoteContentController,
  renderControllers,
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

/** Settings of the controllers from flags; everything else is in the cluster. */
export interface ControllerSettings extends Omit<FirstBootSettings, 'namespace' | 'serverHosts' | 'tokens'> {
  /** Override the ConfigMap machine-config-osimageurl. */
  osImage?: string | undefined;
  osExtensionsImage?: string | undefined;
  /** The image with the slipway program for machines. */
  daemonImage?: string | undefined;
  keepRendered: number;
  /** The node that runs the controllers; it is updated last. */
  ownNode?: string | undefined;
  /** The hosts and addresses that remote content of MachineConfigs may be fetched from. */
  allowHost?: string[] | undefined;
  allowAddress?: string[] | undefined;
  /** Additional names for the server's certificate. */
  serverHost?: string[] | undefined;
  /** Whether stubs have tokens. Default: true. */
  stubTokens?: boolean | undefined;
  /** Provides the OS image streams if the cluster has no ClusterVersion. */
  releaseImage?: string | undefined;
  /** The Secret with the cluster's pull secret, if not the default one. */
  pullSecret?: { namespace: string; name: string } | undefined;
  /** One machine must become ready with a new boot image before a MachineSet gets it. */
  bootImageCanary?: boolean | undefined;
  /** How to connect to registries. */
  registry?: Omit<RegistryOptions, 'credentials'> | undefined;
  /** Access to bare-metal hosts. Undefined: they are not managed. */
  ironic?: IronicSettings | undefined;
}

/** What the controllers share with the program that runs them. */
export interface RuntimeDeps {
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/** All controllers; each has a folder in packages/controllers. */
export function buildControllers(
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
    ...renderControllers({
      namespace,
      controllerVersion: version,
      daemonImage,
      osImages,
      releaseImage,
      gates,
      keep: keepRendered,
    }),
    rolloutController({ ownNode: settings.ownNode, metrics, gates }),
    machineConfigNodesController(),
    disruptionPolicyController,
    drainController({ metrics, machineApiNamespace }),
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
      metrics,
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
    clusterOperatorController({ controllerVersion: version, gates, managesHosts: settings.ironic !== undefined }),
    ...(settings.ironic === undefined
      ? []
      : [
          dataImagesController({
            ironic: settings.ironic.open,
            besideOperator: settings.ironic.besideOperator,
            metrics,
            hosts: { allowAddresses: allowAddress ?? [] },
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
  /** Separate, so that lease renewals never queue behind other requests. Undefined: no leader election. */
  electionTransport?: Transport | undefined;
  /** Address of /healthz, /readyz and /metrics. Undefined: they are not served. */
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

/** The Ironic client, configured by flags; reads the files that they name. Undefined: bare-metal hosts are not managed. */
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
  // Reports invalid settings now, not when the first host appears.
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
    `${given}: expected together with --ironic-url, found no --ironic-url. Add it, or leave ${given} out`,
  );
}

// For commands that fetch like the controllers, without a cluster.
export { createFetcher } from '@slipway/controllers';
