import { Command, InvalidArgumentError } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions, withPoolStatusOptions, withRegistryOptions } from '../cli/options.ts';
import type { ReleaseOptions } from './make.ts';
import type { PinStatusOptions } from './status.ts';

/** Sets after the first have a number behind it, and 253 characters are all that a name may have. */
const MAX_NAME_CHARACTERS = 240;
const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

export function parseSetName(text: string): string {
  if (NAME.test(text) && text.length <= MAX_NAME_CHARACTERS) return text;
  throw new InvalidArgumentError(
    `expected the name of an object: at most ${MAX_NAME_CHARACTERS} lower case letters, digits, - and . such as release-4.22.0, found ${JSON.stringify(text.slice(0, 300))}`,
  );
}

/** What a text is as a name: `4.22.0+Build_7` becomes `4.22.0-build-7`; '' where nothing of it can be in one. */
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
    .summary('have images on every machine of a pool before they are needed, and see how far that is')
    .description(
      'Pins container images: every machine of a pool pulls them ahead of need and keeps them, whatever garbage collection does. Needs the feature gate PinnedImages.',
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
    .summary('show how far pools and machines are with their pinned images')
    .description(
      'Shows for every pool its sets of images, and for every machine how many images and bytes it has, how fast it goes, how long it will take, and what went wrong last. Reads only.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway pin status
  slipway pin status worker --watch
  slipway pin status -o json | jq '.pools[] | {name, machines, bytes}'
  slipway pin status --watch -o json              a JSON document a line, at each change`,
    )
    .action(async (pools: string[], options: PinStatusOptions) =>
      (await import('./status.ts')).runPinStatus(pools, options, io),
    );

/** The options of what makes sets. */
const withMakeOptions = (command: Command): Command =>
  withClusterOptions(withRegistryOptions(command))
    .requiredOption('--pool <POOL>', 'the pool whose machines are to hold them')
    .option('--name <NAME>', 'of the PinnedImageSet; more than 500 images make NAME, NAME-2 and so on', parseSetName)
    .option('--no-sizes', 'do not ask the registry for each image: sizes, and whether they are there, stay unknown')
    .option('--dry-run', 'show it, and write nothing; exits with 2 where some machine may not have the room')
    .option('-y, --yes', 'do not ask before writing')
    .addOption(outputOption(['text', 'json']));

const releaseCommand = (io: Io): Command =>
  withMakeOptions(new Command('release'))
    .summary('pin all images of a release, for an upgrade that needs no registry')
    .description(
      'Reads the list of images out of a release image, asks the registry how large they are, shows whether they fit on each machine, and makes the PinnedImageSets: the release image itself, every image of its payload and those of its OS, at most 500 a set.',
    )
    .argument('<RELEASE_IMAGE>', 'the release image, by digest or tag')
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
    .summary('pin the images that a file lists')
    .description(
      'Makes the PinnedImageSets for the images in a file, one by digest a line (# begins a comment), after asking the registry how large they are and showing whether they fit on each machine. Called again with another list it changes the sets.',
    )
    .argument('<FILE>', 'the list of images')
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
