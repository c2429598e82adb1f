// The running OS against the config. What the host does not know is not compared.
import type { DesiredOS } from '../desired-machine.ts';
import type { Deployment } from '../host/host.ts';
import { digestOf, packagesOfExtensions, packagesOfKernel } from '../host/os/deployment.ts';
import type { Difference } from './compare-entry.ts';
import type { DriftKind } from './drift.ts';

export interface OSFacts {
  readonly booted: Deployment;
  readonly fips: boolean | undefined;
}

export function compareOS(expected: DesiredOS, { booted, fips }: OSFacts): Difference[] {
  const wrong: Difference[] = [];
  if (!isImage(expected.image, booted)) {
    wrong.push(differ('os image', 'osImageURL', expected.image, booted.image));
  }
  wrong.push(...compareArguments(expected, booted.kernelArguments));
  if (booted.image !== '') wrong.push(...comparePackages(expected, booted.packages));
  if (fips !== undefined && fips !== expected.fips) {
    wrong.push(differ('fips', 'fips', String(expected.fips), String(fips)));
  }
  return wrong;
}

/** The same digest is the same OS, from whichever registry it came. */
function isImage(wanted: string, { image, digest }: Deployment): boolean {
  if (wanted === '' || image === '' || wanted === image) return true;
  const wantedDigest = digestOf(wanted);
  return wantedDigest !== '' && [digest, digestOf(image)].includes(wantedDigest);
}

/** No kernel starts without any argument: an empty list is one that is not known. */
function compareArguments(expected: DesiredOS, found: readonly string[]): Difference[] {
  if (found.length === 0) return [];
  const left = [...found];
  const lacking = expected.kernelArguments.filter((argument) => {
    const at = left.indexOf(argument);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const unwanted = expected.noKernelArguments.filter((argument) => found.includes(argument));
  if (lacking.length + unwanted.length === 0) return [];
  const wanted = [
    ...(lacking.length === 0 ? [] : [`also ${lacking.join(' ')}`]),
    ...(unwanted.length === 0 ? [] : [`not ${unwanted.join(' ')}`]),
  ].join(', and ');
  return [differ('kernel arguments', 'kernelArguments', wanted, found.join(' '))];
}

function comparePackages(expected: DesiredOS, found: readonly string[]): Difference[] {
  const wrong: Difference[] = [];
  const lacks = (packages: readonly string[]) => packages.some((name) => !found.includes(name));
  const extensions = expected.extensions.filter((name) => lacks(packagesOfExtensions([name])));
  const installed = found.join(' ') || 'no packages beside those of the image';
  if (extensions.length > 0) wrong.push(differ('extensions', 'extensions', extensions.join(' '), installed));
  const others = ['realtime', '64k-pages'].filter((kernelType) => kernelType !== expected.kernelType);
  const hasOther = others.some((kernelType) => !lacks(packagesOfKernel(kernelType)));
  if (hasOther || lacks(packagesOfKernel(expected.kernelType))) {
    wrong.push(differ('kernel type', 'kernelType', expected.kernelType, installed));
  }
  return wrong;
}

const MOST_CHARACTERS = 500;

/** None of it changes without a boot, so none can be put back by writing. */
function differ(kind: DriftKind, field: string, expected: string, found: string): Difference {
  const show = (text: string) => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
  const message = `spec.${field}: expected ${show(expected)}, the machine runs with ${show(found)}`;
  return { kind, name: field, message, canHeal: false };
}
