export const MACHINE_CONFIGURATION_GROUP = 'machineconfiguration.openshift.io';

/** The label by which MachineConfigs and PinnedImageSets say which pools they are for. */
export const ROLE_LABEL = 'machineconfiguration.openshift.io/role';

const known = <N extends string>(name: N) => `${MACHINE_CONFIGURATION_GROUP}/${name}` as const;
const ours = <N extends string>(name: N) => `slipway.dev/${name}` as const;

/** The name of an object that there is one of: MachineConfiguration, OSImageStream, Infrastructure, FeatureGate. */
export const SINGLETON_NAME = 'cluster';

/** The ConfigMap, in our namespace, that names the OS images of the release. */
export const OS_IMAGES_CONFIG_MAP = 'machine-config-osimageurl';

/** The ConfigMap, in our namespace, with the boot images of the release. */
export const BOOT_IMAGES_CONFIG_MAP = 'coreos-bootimages';

/** Annotations of a Node, as users know them. */
export const nodeAnnotations = {
  currentConfig: known('currentConfig'),
  desiredConfig: known('desiredConfig'),
  currentImage: known('currentImage'),
  desiredImage: known('desiredImage'),
  state: known('state'),
  reason: known('reason'),
  desiredDrain: known('desiredDrain'),
  lastAppliedDrain: known('lastAppliedDrain'),
  postConfigAction: known('post-config-action'),
} as const;

/** Those that the daemon on the node writes, by its own identity; the others are for controllers. */
export const daemonAnnotations: readonly string[] = [
  nodeAnnotations.currentConfig,
  nodeAnnotations.currentImage,
  nodeAnnotations.state,
  nodeAnnotations.reason,
  nodeAnnotations.desiredDrain,
  nodeAnnotations.postConfigAction,
];

/** What these begin with is ours, on whatever object. */
export const ourPrefixes = [known(''), ours('')] as const;

/** In place of the name of a pool or of a rendered config that is not known yet. */
export const NOT_YET_SET = 'not-yet-set';

/** On every MachineConfig that a controller made: the version of that controller. */
export const generatedByAnnotation = known('generated-by-controller-version');
/** On what comes with the operator and not from users. */
export const builtInLabel = known('mco-built-in');

/** On a rendered MachineConfig that a pool, node or MachineSet refers to: it cannot be deleted. The render controller keeps it. */
export const inUseLabel = ours('in-use');
/** On a rendered MachineConfig: the pool it was rendered for. */
export const poolLabel = ours('pool');
/** On a MachineConfig, by its user: another value than before asks to fetch its remote content again. */
export const refreshAnnotation = ours('refresh-remote-content');
/** On a MachineConfig: which snapshot of its remote content was stored last. Written by the remote content controller. */
export const remoteContentAnnotation = ours('remote-content');
/** On a pool: why its MachineConfigs cannot be rendered, as JSON. Written by the render controller, read for the conditions. */
export const renderProblemsAnnotation = ours('render-problems');
/** On a pool: the rendered config its machines are held at, before spec.configuration. Written by the rollout controller. */
export const targetConfigAnnotation = ours('target-config');

/** On a pool, by people and policy: how a new config reaches its machines. docs/rollouts.md has them with their values. */
export const rolloutPolicyAnnotations = {
  /** How many machines may have the new config, one size after the other, such as `1,10%,100%`; the first is the canary. */
  waves: ours('rollout-waves'),
  /** How long a wave must have been healthy before the next one begins, such as `10m`. */
  soak: ours('rollout-soak'),
  /** What a machine that fails leads to: `halt`, or `return` to the last good config. */
  onFailure: ours('rollout-on-failure'),
  /** What ends a held target: `until-new-render` or `until-resume`. */
  hold: ours('rollout-hold'),
} as const;
/** On a pool, by a person: `cancel`, `resume`, `rollback` or `rollback=<rendered config>`. The rollout controller answers it and takes it away. */
export const rolloutRequestAnnotation = ours('rollout-request');
/** On a pool: how far the rollout is, as JSON. Written by the rollout controller. */
export const rolloutStateAnnotation = ours('rollout');
/** On a pool: its last rollouts, as JSON. Written by the rollout controller. */
export const rolloutHistoryAnnotation = ours('rollout-history');
/** On the MachineConfiguration `cluster`, by a person: no machine of any pool is given a new config; the value says why. */
export const stopRolloutsAnnotation = ours('stop-rollouts');
/** On a rendered MachineConfig: the MachineConfigs it was made from, as JSON. Written by the render controller. */
export const sourcesAnnotation = ours('sources');
/** On a Node: why it was given its desiredConfig, and when. Written with it. */
export const targetReasonAnnotation = ours('target-reason');
/** On a Node that the drain controller cordoned: since when. A Node without it was cordoned by somebody else, and stays so. */
export const cordonedAnnotation = ours('cordoned');
/** On a Node: since when it is being drained. */
export const drainSinceAnnotation = ours('drain-since');
/** On a Node: what its drain waits for, for people. Written by the drain controller, gone when it goes on. */
export const drainBlockedAnnotation = ours('drain-blocked');

/** On the MachineConfiguration `cluster`: what a node does about drift: `leave`, `heal` or `heal-after=10m`. */
export const driftPolicyAnnotation = ours('drift-policy');

/** On a pool: the OS image stream that it is on. On a rendered MachineConfig: the stream that its OS images are of. */
export const osStreamAnnotation = ours('os-image-stream');
/** On a pool: the images of its stream as they were last there, as JSON. Written with the stream, by the OS streams controller. */
export const osStreamImagesAnnotation = ours('os-image-stream-images');
/** On a pool: why its OS image stream cannot be followed, as JSON like the problems of a render. Written by the OS streams controller. */
export const osStreamProblemAnnotation = ours('os-image-stream-problem');
/** On the OSImageStream: what the payload says of the lives of its streams, as JSON. */
export const streamLifecycleAnnotation = ours('stream-lifecycle');
/** On the OSImageStream: the default stream that we set. Another one in its spec is somebody's own choice. */
export const ownDefaultStreamAnnotation = ours('default-stream');
/** On the OSImageStream: a digest of all it was made from. While it is the same, nobody is asked again. */
export const streamSourcesAnnotation = ours('stream-sources');
/** On the OSImageStream: the release image it was made from. */
export const releasePayloadImageAnnotation = known('release-payload-image');

/** On the ConfigMap `coreos-bootimages`: grows by one with every change of what it says, since ConfigMaps have no generation. */
export const bootImagesGenerationAnnotation = ours('boot-images-generation');
/** On the same: a digest of what that counter was last raised for. */
export const bootImagesDigestAnnotation = ours('boot-images-digest');
/** On the same: when that was. */
export const bootImagesChangedAnnotation = ours('boot-images-changed');
/** On a MachineSet or MachineDeployment: what the boot images controller did to it last, as JSON. Written with the image. */
export const bootImageAnnotation = ours('boot-image');
/** On the same, by a person: its boot image is left as it is; the value says at which version. */
export const bootImageHoldAnnotation = ours('boot-image-hold');
/** On a MachineSet that we made to try an image: its owner is the one that shall get it. */
export const bootImageCanaryLabel = ours('boot-image-canary');
/** On a BootImageHistory: the images themselves of its last entries, as JSON. */
export const bootImagesOfHistoryAnnotation = ours('boot-images');
/** On the MachineConfiguration `cluster`: why boot images are too old for an upgrade. Written by the boot images controller. */
export const bootImageSkewAnnotation = ours('boot-image-skew');
/** On an infrastructure template of Cluster API that we made: the template that it is a copy of. */
export const clonedFromAnnotation = ours('cloned-from');
/** On a MachineSet, by its owner: the OS image stream that its machines boot. */
export const osStreamLabel = known('osstream');

/** On a MachineSet or MachineDeployment, by a person: `true` lets an image that nobody knows be replaced by the payload's. */
export const bootImageAdoptAnnotation = ours('boot-image-adopt');
/** On the MachineConfiguration `cluster`: which resources fail to get their boot image, since when, as JSON. Written by the boot images controller. */
export const bootImageFailuresAnnotation = ours('boot-image-failures');

/** On a MachineConfigNode: the PinnedImageSets whose images the node shall hold, and whether it may pull now, as JSON. Written by the pinned images controller. */
export const pinAssignmentAnnotation = ours('pinned-images');
/** On a pool: the PinnedImageSets of its spec that the pinned images controller added, as JSON. Others are somebody's own. */
export const addedImageSetsAnnotation = ours('pinned-image-sets-added');
/** On a pool: how far its machines are with their pinned images, as JSON. Written by the pinned images controller, read for the status. */
export const pinSummaryAnnotation = ours('pinned-images-status');
/** On a pool, by people: how many of its machines may pull images to pin at once, such as `10` or `10%`. Without it all may. */
export const maxPullingAnnotation = ours('pinned-images-max-pulling');

/** The prefix that only rendered MachineConfigs have. */
export const RENDERED_PREFIX = 'rendered-';
