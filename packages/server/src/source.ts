import type { MachineConfig } from '@slipway/api';
import type { JoiningNode, ProvisioningToken } from '@slipway/fleet';

export interface ServingCertificate {
  /** PEM: the leaf, then its intermediates. */
  cert: string;
  key: string;
}

/** All that answers depend on, at one moment. */
export interface Inputs {
  /** Every pool, with the name of the rendered config that its new machines get, once there is one. */
  pools: ReadonlyMap<string, string | undefined>;
  /** The provisioning tokens of each pool. */
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
  node: JoiningNode | undefined;
  certificate: ServingCertificate | undefined;
  /** What is missing or damaged, each a whole sentence. */
  problems: readonly string[];
}

/** Where the server has its inputs from: a cluster, or a directory. */
export interface Source {
  read(): Inputs;
  /** A rendered MachineConfig by its name. */
  load(name: string): Promise<MachineConfig>;
  /** Called after something changed; returns the way to stop that. */
  onChange(listener: () => void): () => void;
  /** It cannot be sure at present that it knows the newest inputs. */
  isBehind(): boolean;
}
