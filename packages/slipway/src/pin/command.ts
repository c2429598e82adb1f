import { Command, InvalidArgumentError } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions, withPoolStatusOptions, withRegistryOptions } from '../cli/options.ts';
import type { ReleaseOptions } from './make.ts';
import type { PinStatusOptions } from './status.ts';

/** Sets after the first get a number as suffix, and a name has at most 253 characters. */
const MAX_NAME_CHARACTERS = 240;
const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

export function parseSetName(text: string): string {
  if (NAME.test(text) && text.length <= MAX_NAME_CHARACTERS) return text;
  throw new InvalidArgumentError(
    `expected an object name of at most ${MAX_NAME_CHARACTERS} lower case letters, digits, - and ., such as release-4.22.0, found ${JSON.stringify(text.slice(0, 300))}`,
  );
}

/** Converts text to an object name: `4.22.0+Build_7` becomes `4.22.0-build-7`; '' if no character is usable. */
export const nameFrom = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .split('.')
    .map((part) => part.replaceAll(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
    .join('.')
    .slice(0, MAX_NAME_CHARACTERS / 2)
    .replaceAll(/[-.]+$/g, '');

export const pinCommand = (io: Io = processIo): Command =>
  new Command('pin')
    .summary('pull images onto every machine of a pool in advance, and show the progress')
    .description(
      'Pins container images: every machine of a pool pulls them in advance, and garbage collection does not remove them. Needs the feature gate PinnedImages.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway pin release quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64 --pool worker --pull-secret pull-secret.json
  slipway pin images shop.txt --pool worker
  slipway pin status worker --watch`,
    )
    .addCommand(statusCommand(io))
    .addCommand(releaseCommand(io))
    .addCommand(imagesCommand(io));

const statusCommand = (io: Io): Command =>
  withPoolStatusOptions(new Command('status'))
    .summary('show the progress of pinned images by pool and machine')
    .description(
      'Shows the PinnedImageSets of every pool, and for every machine the images and bytes it has, the download rate, the time left, and the last error. Read-only.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway pin status
  slipway pin status worker --watch
  slipway pin status -o json | jq '.pools[] | {name, machines, bytes}'
  slipway pin status --watch -o json              one line of JSON per change`,
    )
    .action(async (pools: string[], options: PinStatusOptions) =>
      (await import('./status.ts')).runPinStatus(pools, options, io),
    );

/** Options of commands that create sets. */
const withMakeOptions = (command: Command): Command =>
  withClusterOptions(withRegistryOptions(command))
    .requiredOption('--pool <POOL>', 'pool whose machines pull the images')
    .option(
      '--name <NAME>',
      'name of the PinnedImageSet; more than 500 images are split into NAME, NAME-2 and so on',
      parseSetName,
    )
    .option('--no-sizes', 'do not query the registry; sizes and missing images stay unknown')
    .option('--dry-run', 'show the plan only; exits with 2 if a machine may lack disk space')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(outputOption(['text', 'json']));

const releaseCommand = (io: Io): Command =>
  withMakeOptions(new Command('release'))
    .summary('pin all images of a release, so that the upgrade needs no registry')
    .description(
      'Reads the image list of a release image, queries the registry for their sizes, shows whether they fit on each machine, and creates the PinnedImageSets: the release image itself, every image of its payload, and its OS images, at most 500 per set.',
    )
    .argument('<RELEASE_IMAGE>', 'release image, by digest or tag')
    .addHelpText(
      'after',
      `
Examples:
  slipway pin release quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64 --pool worker --pull-secret pull-secret.json --dry-run
  slipway pin release registry.local:5000/ocp/release@sha256:… --pool worker --registry-ca ca.crt --yes
  slipway pin release … --pool worker --dry-run -o json | jq '.nodes[] | select(.verdict != "fits")'`,
    )
    .action(async (image: string, options: ReleaseOptions) =>
      (await import('./make.ts')).runPinRelease(image, options, io),
    );

const imagesCommand = (io: Io): Command =>
  withMakeOptions(new Command('images'))
    .summary('pin the images listed in a file')
    .description(
      'Queries the registry for the sizes of the images in a file, shows whether they fit on each machine, and creates the PinnedImageSets. The file has one image by digest per line; # starts a comment. Running it again with another list updates the sets.',
    )
    .argument('<FILE>', 'file with the list of images')
    .addHelpText(
      'after',
      `
Examples:
  slipway pin images shop.txt --pool worker --pull-secret pull-secret.json
  slipway pin images shop.txt --pool worker --name shop --dry-run`,
    )
    .action(async (file: string, options: ReleaseOptions) =>
      (await import('./make.ts')).runPinImages(file, options, io),
    );
