// Not by the package's front door: it would load every schema, for `--version` too.
import { featureGates, parseFeatureGates } from '@slipway/fleet/feature-gates';
import type { FeatureGateSettings } from '@slipway/fleet';
import { InvalidArgumentError, Option } from 'commander';

export const featureGatesOption = (): Option =>
  new Option(
    '--feature-gates <list>',
    `Name=true|false,…; used where the cluster has no FeatureGate “cluster”. Gates: ${featureGates.join(', ')}`,
  ).argParser(parse);

function parse(text: string): FeatureGateSettings {
  const parsed = parseFeatureGates(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem);
  return parsed.settings;
}
