import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, longest first. In a fresh clone Vitest knows no times and goes by the size of files. */
const longest = [
  'e2e/start.e2e.test.ts',
  'e2e/render-killed.e2e.test.ts',
  'e2e/rollout-behaviours.e2e.test.ts',
  'e2e/pinned-images-crio.e2e.test.ts',
  'e2e/pinned-images-journey.e2e.test.ts',
  'e2e/pinned-images-fleet.e2e.test.ts',
  'packages/ignition/test/differential.e2e.test.ts',
  'tools/controlplane/launcher.e2e.test.ts',
  'e2e/node.e2e.test.ts',
  'e2e/rollout-commands.e2e.test.ts',
  'e2e/plan.e2e.test.ts',
  'e2e/os-streams.e2e.test.ts',
  'e2e/fleet.e2e.test.ts',
  'e2e/daemon.e2e.test.ts',
  'e2e/rollout-journey.e2e.test.ts',
  'e2e/rollout-random.e2e.test.ts',
  'e2e/provisioning.e2e.test.ts',
  'packages/controllers/src/boot-images/boot-image-lives.e2e.test.ts',
  'packages/controllers/src/boot-images/boot-images.e2e.test.ts',
  'e2e/leadership.e2e.test.ts',
  'e2e/streams-commands.e2e.test.ts',
  'packages/controllers/src/os-streams/registry-failures.e2e.test.ts',
  'e2e/render-determinism.e2e.test.ts',
  'packages/controllers/src/rollout/rollout-simulation.test.ts',
  'packages/controllers/src/rollout/rollout-simulation-more.test.ts',
  'packages/daemon/src/apply/sigkill.test.ts',
  'packages/daemon/src/apply/crash-rollback.test.ts',
  'packages/daemon/src/apply/crash.test.ts',
  'packages/ignition/test/hostile.test.ts',
  'packages/ignition/test/laws.test.ts',
];

/** Starts the longest files of each project first: begun last, one of them would run on while the other cores wait. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return Object.values(Object.groupBy(sorted, ({ project }) => project.name)).flatMap(longestFirst);
  }
}

function longestFirst(files: TestSpecification[] = []): TestSpecification[] {
  const placeOf = ({ moduleId }: TestSpecification): number => {
    const place = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
    return place === -1 ? longest.length : place;
  };
  return files.toSorted((a, b) => placeOf(a) - placeOf(b));
}
