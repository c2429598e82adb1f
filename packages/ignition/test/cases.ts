import * as fc from 'fast-check';
import { SPEC_VERSIONS, type SpecVersion } from '../src/version.ts';
import { configs, focusedConfigs, type Json } from './configs.ts';
import { mutate, mutateText, mutations, textMutations, type Mutation, type TextMutation } from './mutations.ts';

/** One case for both sides. */
export interface Case {
  op: 'parse' | 'translate' | 'merge';
  /** The exact text of each config. */
  configs: string[];
  to?: SpecVersion;
}

const VERSION_3 = SPEC_VERSIONS.filter((version) => version.startsWith('3.'));
const anyVersion = fc.constantFrom(...SPEC_VERSIONS);
/** Unsupported versions, and supported ones in spellings that a lenient reader may accept. */
const STRANGE_VERSIONS = [
  '',
  '1.0.0',
  '2.0.0',
  '2.1.0',
  '2.5.0',
  '2.5.0-experimental',
  '3.7.0',
  '3.7.0-experimental',
  '4.0.0',
  '3.4',
  '3',
  '3.4.0.0',
  '3.4.0-',
  '3.4.0+',
  '3.4.0+a',
  '03.4.0',
  '3.04.0',
  '3.4.00',
  ' 3.4.0',
  '3.4.0 ',
  'v3.4.0',
  '3.4.-0',
  '3.4.0-dev',
  '3.x.0',
  '٣.4.0',
  '3.4.0\u0000',
  '+3.4.0',
  '3..0',
  '-3.4.0',
  '3.4.1',
];

export function generateCases(): fc.Arbitrary<Case> {
  return fc.oneof(
    { weight: 12, arbitrary: anyVersion.chain(parseCase) },
    { weight: 12, arbitrary: anyVersion.chain(focusedCase) },
    { weight: 12, arbitrary: anyVersion.chain(translateCase) },
    { weight: 16, arbitrary: fc.oneof(fc.constant(undefined), fc.constantFrom(...VERSION_3)).chain(mergeCase) },
    { weight: 1, arbitrary: strangeVersionCase },
    { weight: 1, arbitrary: fc.json({ maxDepth: 3 }).map((text): Case => ({ op: 'parse', configs: [text] })) },
  );
}

const parseCase = (version: SpecVersion): fc.Arbitrary<Case> =>
  fc
    .tuple(
      configs(version),
      fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: harms }),
      textMutations,
    )
    .map(([config, list, text]) => ({ op: 'parse', configs: [buildText(config, list, text)] }));

const focusedCase = (version: SpecVersion): fc.Arbitrary<Case> =>
  focusedConfigs(version).map((config) => ({ op: 'parse', configs: [JSON.stringify(config)] }));

const harms = fc.array(mutations, { minLength: 1, maxLength: 2 });

const translateCase = (version: SpecVersion): fc.Arbitrary<Case> =>
  fc
    .tuple(configs(version), anyVersion)
    .map(([config, to]) => ({ op: 'translate', configs: [JSON.stringify(config)], to }));

/** All of the version they are merged in, or of any: those are translated first. */
function mergeCase(to: SpecVersion | undefined): fc.Arbitrary<Case> {
  const version = to ?? '3.5.0';
  const others = fc.constantFrom(...SPEC_VERSIONS.filter((other) => other <= version)).chain(configs);
  const input = fc.oneof({ weight: 6, arbitrary: configs(version) }, { weight: 1, arbitrary: others });
  return fc
    .tuple(fc.array(input, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.option(mutations, { freq: 5 }))
    .map(([inputs, related, harm]): Case => {
      const list = related ? withVariant(inputs, harm) : inputs;
      const texts = list.map((config) => JSON.stringify(config));
      return to === undefined ? { op: 'merge', configs: texts } : { op: 'merge', configs: texts, to };
    });
}

/** A second config similar to the first: a merge is about the same keys with other values. */
function withVariant(inputs: readonly Json[], harm: Mutation | null): Json[] {
  const [first] = inputs;
  if (first === undefined) return [];
  const harms = harm === null ? [] : [{ ...harm, kind: harm.kind === 'replace' ? ('remove' as const) : harm.kind }];
  return [...inputs, mutate(first, harms)];
}

const strangeVersionCase: fc.Arbitrary<Case> = fc
  .tuple(anyVersion.chain(configs), fc.constantFrom(...STRANGE_VERSIONS))
  .map(([config, version]) => {
    const ignition = { ...(config['ignition'] as Json), version };
    return { op: 'parse', configs: [JSON.stringify({ ...config, ignition })] };
  });

function buildText(config: Json, list: readonly Mutation[], text: TextMutation): string {
  return mutateText(JSON.stringify(mutate(config, list)), text);
}
