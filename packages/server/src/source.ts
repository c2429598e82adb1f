import type { MachineConfig } from '@slipway/api';
import type { JoiningNode, ProvisioningToken } from '@slipway/fleet';

export interface ServingCertificate {
  /** PEM: the leaf, then its intermediates. */
  cert: string;
  key: string;
}

/** Everything that responses depend on, at one moment. */
export interface Inputs {
  /** Every pool, with the rendered config for its new machines, once there is one. */
  pools: ReadonlyMap<string, string | undefined>;
  /** The provisioning tokens of each pool. */
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
  node: JoiningNode | undefined;
  certificate: ServingCertificate | undefined;
  /** Missing or damaged inputs, each a whole sentence. */
  problems: readonly string[];
}

/** The origin of the server's inputs: a cluster or a directory. */
export interface Source {
  read(): Inputs;
  /** A rendered MachineConfig by its name. */
  load(name: string): Promise<MachineConfig>;
  /** Called after a change; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** The inputs may be out of date at present. */
  isBehind(): boolean;
}
