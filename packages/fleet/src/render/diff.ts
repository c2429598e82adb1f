// A human-readable diff of two MachineConfigs, rendered or not, with secrets masked.
import type { MachineConfig } from '@slipway/api';
import {
  type AnyConfig,
  type ConfigDiff,
  diffConfigs,
  type ItemDiff,
  type Origin,
  parse,
  type Provenance,
  type Report,
} from '@slipway/ignition';
import { maskContents, maskedDiff, type Masking } from '../masking.ts';
import { RENDERED_VERSION } from './ignition.ts';
import type { RenderInput } from './input.ts';
import { hasOwnKernel, OS_IMAGE_FIELDS } from './machine-settings.ts';

type Spec = NonNullable<MachineConfig['spec']>;

/** Items are null if an Ignition config cannot be read; the report then explains why. */
export async function diffRendered(a: Spec, b: Spec, masking: Masking = {}): Promise<ConfigDiff> {
  const [before, after] = [parseConfig(a), parseConfig(b)];
  const report = [...before.report, ...after.report];
  if (before.config === null || after.config === null) return { items: null, report };
  const diff = await diffConfigs(before.config, after.config, maskedDiff(masking));
  const items = diff.items === null ? null : [...diff.items, ...settingDiffs(a, b, masking)];
  return { items, report: [...report, ...diff.report] };
}

function parseConfig({ config = {} }: Spec): { config: AnyConfig | null; report: Report } {
  return Object.keys(config).length === 0 ? parse({ ignition: { version: RENDERED_VERSION } }) : parse(config);
}

const LISTS = ['kernelArguments', 'extensions'] as const;
const SINGLE: readonly {
  name: 'kernelType' | 'fips' | 'osImageURL' | 'baseOSExtensionsContainerImage';
  default: string;
}[] = [
  { name: 'kernelType', default: 'default' },
  { name: 'fips', default: 'false' },
  { name: 'osImageURL', default: '' },
  { name: 'baseOSExtensionsContainerImage', default: '' },
];

/** All settings outside the Ignition config, as one item with fields. */
function settingDiffs(a: Spec, b: Spec, masking: Masking): ItemDiff[] {
  const fields = LISTS.flatMap((name) => listChanges(name, a[name] ?? [], b[name] ?? []));
  for (const { name, default: none } of SINGLE) {
    const before = String(a[name] ?? '') || none;
    const after = String(b[name] ?? '') || none;
    if (before !== after) fields.push({ name, before: before || null, after: after || null });
  }
  if (fields.length === 0) return [];
  const show = (value: string | null) => (value === null ? null : maskContents(value, masking));
  const shown = fields.map(({ name, before, after }) => ({ name, before: show(before), after: show(after) }));
  return [{ noun: 'machine settings', name: '', change: 'changed', fields: shown, contents: [] }];
}

/** Added and removed values; if there are none, the new order, because the kernel reads its arguments in order. */
function listChanges(name: string, before: readonly string[], after: readonly string[]): ItemDiff['fields'] {
  const gone = surplus(before, after).map((value) => ({ name, before: value, after: null }));
  const come = surplus(after, before).map((value) => ({ name, before: null, after: value }));
  const isSame = before.length === after.length && before.every((value, index) => value === after[index]);
  if (isSame || gone.length + come.length > 0) return [...gone, ...come];
  return [{ name: `order of ${name}`, before: before.join(' '), after: after.join(' ') }];
}

/** What `values` has more often than `others`: an argument may be repeated. */
function surplus(values: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of others) counts.set(value, (counts.get(value) ?? 0) + 1);
  return values.filter((value) => {
    const left = counts.get(value) ?? 0;
    counts.set(value, left - 1);
    return left <= 0;
  });
}

// Which MachineConfig set which value of a rendered config. Computed on request, because a render does not need it.

/** A setting of the rendered spec outside its Ignition config, and its origin. */
export interface SettingOrigin extends Origin {
  readonly setting: 'kernelArgument' | 'extension' | 'kernelType' | 'fips' | (typeof OS_IMAGE_FIELDS)[number];
  readonly value: string;
}

export class RenderProvenance {
  /** Names of MachineConfigs by path into the Ignition config, such as `storage.files[0].mode`. */
  readonly config: Provenance;
  readonly #inputs: readonly RenderInput[];

  constructor(config: Provenance, inputs: readonly RenderInput[]) {
    this.config = config;
    this.#inputs = inputs;
  }

  /** The MachineConfigs in merge order. */
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

  /** The first MachineConfig that requests an extension sets it; later requests change nothing. */
  #extensions(): SettingOrigin[] {
    const origins = new Map<string, SettingOrigin>();
    for (const { name, extensions } of this.#inputs) {
      for (const value of extensions) {
        if (!origins.has(value)) origins.set(value, { setting: 'extension', value, from: name, overrode: [] });
      }
    }
    return [...origins.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  }

  /** A setting with one value: the last MachineConfig that sets it wins; '' means not set. */
  #single(setting: SettingOrigin['setting'], valueIn: (input: RenderInput) => string): SettingOrigin[] {
    const setters = this.#inputs.filter((input) => valueIn(input) !== '');
    const last = setters.at(-1);
    if (last === undefined) return [];
    return [{ setting, value: valueIn(last), from: last.name, overrode: setters.slice(0, -1).map(({ name }) => name) }];
  }
}
