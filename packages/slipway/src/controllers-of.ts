import {
  builtInController,
  certificatesController,
  defaultPoolsController,
  drainController,
  type FirstBootSettings,
  machineConfigNodesController,
  provisioningControllers,
  remoteContentController,
  renderController,
  renderedConfigsController,
  renderedCopiesController,
  rolloutController,
} from '@slipway/controllers';
import type { ControllerDef, Metrics } from '@slipway/kube';
import { version } from './version.ts';

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
}

/** Every controller there is; one folder each in packages/controllers. */
export function controllersOf(
  namespace: string,
  settings: ControllerSettings,
  metrics?: Pick<Metrics, 'registry'>,
): ControllerDef[] {
  const { osImage, osExtensionsImage, daemonImage, keepRendered, allowHost, allowAddress } = settings;
  const hosts = {
    ...(allowHost !== undefined && { allowHosts: allowHost }),
    ...(allowAddress !== undefined && { allowAddresses: allowAddress }),
  };
  const osImages = {
    ...(osImage !== undefined && { osImageURL: osImage }),
    ...(osExtensionsImage !== undefined && { baseOSExtensionsContainerImage: osExtensionsImage }),
  };
  const firstBoot = { ...settings, namespace, serverHosts: settings.serverHost, tokens: settings.stubTokens };
  return [
    defaultPoolsController,
    builtInController({ controllerVersion: version, daemonImage }),
    remoteContentController({ namespace, hosts }),
    renderController({ namespace, controllerVersion: version, osImages }),
    renderedConfigsController({ keep: keepRendered }),
    renderedCopiesController({ namespace }),
    rolloutController({ ownNode: settings.ownNode, metrics }),
    machineConfigNodesController(),
    drainController({ metrics }),
    certificatesController(firstBoot),
    ...provisioningControllers(firstBoot),
  ];
}
