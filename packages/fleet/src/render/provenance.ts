// Which MachineConfig set what of a rendered config. Worked out when asked, since a render itself needs none of it.
import type { Origin, Provenance } from '@slipway/ignition';
import { hasOwnKernel, OS_IMAGE_FIELDS } from './machine-settings.ts';
import type { RenderInput } from './input.ts';

/** A setting of the rendered spec outside its Ignition config, and where it comes from. */
export interface SettingOrigin extends Origin {
  readonly setting: 'kernelArgument' | 'extension' | 'kernelType' | 'fips' | (typeof OS_IMAGE_FIELDS)[number];
  readonly value: string;
}

export class RenderProvenance {
  /** By path into the Ignition config, such as `storage.files[0].mode`, the names of MachineConfigs. */
  readonly config: Provenance;
  readonly #inputs: readonly RenderInput[];

  constructor(config: Provenance, inputs: readonly RenderInput[]) {
    this.config = config;
    this.#inputs = inputs;
  }

  /** The MachineConfigs, in the order of the merge. */
  get inputs(): string[] {
    return this.#inputs.map((input) => input.name);
  }

  settings(): SettingOrigin[] {
    return [
      ...this.#inputs.flatMap(({ name, kernelArguments }) =>
        kernelArguments.map((value) => ({ setting: 'kernelArgument' as const, value, from: name, overrode: [] })),
      ),
      ...this.#extensions(),
      ...this.#single('kernelType', (input) => (hasOwnKernel(input) ? input.kernelType : '')),
      ...this.#single('fips', (input) => (input.fips ? 'true' : '')),
      ...OS_IMAGE_FIELDS.flatMap((field) => this.#single(field, (input) => input[field])),
    ];
  }

  /** The first MachineConfig that asks for an extension sets it; who asks again changes nothing. */
  #extensions(): SettingOrigin[] {
    const origins = new Map<string, SettingOrigin>();
    for (const { name, extensions } of this.#inputs) {
      for (const value of extensions) {
        if (!origins.has(value)) origins.set(value, { setting: 'extension', value, from: name, overrode: [] });
      }
    }
    return [...origins.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  }

  /** A setting with one value, where the last MachineConfig that says something wins; '' is saying nothing. */
  #single(setting: SettingOrigin['setting'], valueIn: (input: RenderInput) => string): SettingOrigin[] {
    const setters = this.#inputs.filter((input) => valueIn(input) !== '');
    const last = setters.at(-1);
    if (last === undefined) return [];
    return [{ setting, value: valueIn(last), from: last.name, overrode: setters.slice(0, -1).map(({ name }) => name) }];
  }
}
