import {
  bootImagesControllers,
  builtInController,
  certificatesController,
  dataImagesController,
  defaultPoolsController,
  drainController,
  firstBootOptions,
  type FirstBootSettings,
  machineConfigNodesController,
  osStreamsControllers,
  pinnedImagesControllers,
  provisioningControllers,
  registryWith,
  remoteContentController,
  renderController,
  renderedConfigsController,
  renderedCopiesController,
  rolloutController,
} from '@slipway/controllers';
import type { ControllerDef, Gates, Metrics } from '@slipway/kube';
import type { RegistryOptions } from '@slipway/registry';
import { version } from './cli/program.ts';
import type { IronicSettings } from './open-ironic.ts';

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
export interface Surroundings {
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/** Every controller there is; one folder each in packages/controllers. */
export function controllersOf(
  namespace: string,
  settings: ControllerSettings,
  { gates, metrics }: Surroundings,
): ControllerDef[] {
  const { osImage, osExtensionsImage, releaseImage, daemonImage, keepRendered, allowHost, allowAddress } = settings;
  const hosts = {
    ...(allowHost !== undefined && { allowHosts: allowHost }),
    ...(allowAddress !== undefined && { allowAddresses: allowAddress }),
  };
  const osImages = {
    ...(osImage !== undefined && { osImageURL: osImage }),
    ...(osExtensionsImage !== undefined && { baseOSExtensionsContainerImage: osExtensionsImage }),
  };
  const firstBoot = { ...settings, namespace, serverHosts: settings.serverHost, tokens: settings.stubTokens };
  const { machineApiNamespace, clusterApiNamespace } = firstBootOptions(firstBoot);
  return [
    defaultPoolsController,
    builtInController({ controllerVersion: version, daemonImage }),
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
    ...pinnedImagesControllers({ gates, metrics }),
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
