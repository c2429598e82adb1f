// With the interval of a real GitOps tool. boot-image-lives.e2e.test.ts has the same promises in short.
import { it } from 'vitest';
import { useBootImagesCluster } from './testing/boot-images-fixture.ts';
import { expectImageInGitWins, expectOmittedImageIsOurs } from './testing/gitops.ts';

const SYNC_MS = 5000;

useBootImagesCluster();

it(
  'a MachineSet whose image is not in git gets the new one with one write',
  () => expectOmittedImageIsOurs(SYNC_MS),
  120_000,
);

it(
  'a MachineSet whose image is in git keeps that, and is reported after three writes',
  () => expectImageInGitWins(SYNC_MS),
  120_000,
);
