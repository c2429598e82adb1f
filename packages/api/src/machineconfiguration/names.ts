export const MACHINE_CONFIGURATION_GROUP = 'machineconfiguration.openshift.io';

/** On MachineConfigs and PinnedImageSets: the role whose pools select them. */
export const ROLE_LABEL = 'machineconfiguration.openshift.io/role';

const known = <N extends string>(name: N) => `${MACHINE_CONFIGURATION_GROUP}/${name}` as const;
const ours = <N extends string>(name: N) => `slipway.dev/${name}` as const;

/** The name of cluster-wide singletons: MachineConfiguration, OSImageStream, Infrastructure, FeatureGate. */
export const SINGLETON_NAME = 'cluster';

/** The ConfigMap, in our namespace, that names the OS images of the release. */
export const OS_IMAGES_CONFIG_MAP = 'machine-config-osimageurl';

/** The ConfigMap, in our namespace, with the boot images of the release. */
export const BOOT_IMAGES_CONFIG_MAP = 'coreos-bootimages';

/** The ConfigMap, next to it, with a copy of our annotations on it: clients that recreate it do not know them. */
export const BOOT_IMAGES_COPY_CONFIG_MAP = 'slipway-boot-images';

/** Node annotations that the platform defines. */
export const nodeAnnotations = {
  currentConfig: known('currentConfig'),
  desiredConfig: known('desiredConfig'),
  state: known('state'),
  reason: known('reason'),
  desiredDrain: known('desiredDrain'),
  lastAppliedDrain: known('lastAppliedDrain'),
  postConfigAction: known('post-config-action'),
} as const;

/** On a Node: the desiredConfig that its `state` and `reason` are about. Written together with them. */
export const reportedConfigAnnotation = ours('reported-config');

/** On a Node: what the OS of the machine can change: `all`, `image-and-kernel-arguments` or `none`. */
export const osAbilityAnnotation = ours('os-ability');

/** Written by the daemon on the node; only controllers write the others. */
export const daemonAnnotations: readonly string[] = [
  nodeAnnotations.currentConfig,
  nodeAnnotations.state,
  nodeAnnotations.reason,
  nodeAnnotations.desiredDrain,
  nodeAnnotations.postConfigAction,
  reportedConfigAnnotation,
  osAbilityAnnotation,
];

/** Annotations and labels with these prefixes are ours, on any object. */
export const ourPrefixes = [known(''), ours('')] as const;

/** Placeholder for the name of a pool or rendered config that is not known yet. */
export const NOT_YET_SET = 'not-yet-set';

/** On every MachineConfig that a controller generated: the version of that controller. */
export const generatedByAnnotation = known('generated-by-controller-version');
/** On objects that the operator ships, in contrast to those of users. */
export const builtInLabel = known('mco-built-in');

/** On a rendered MachineConfig that is in use and cannot be deleted. Written by the render controller. */
export const inUseLabel = ours('in-use');
/** On a rendered MachineConfig: the pool it was rendered for. */
export const poolLabel = ours('pool');
/** On a MachineConfig, set by a user: a new value requests that its remote content is fetched again. */
export const refreshAnnotation = ours('refresh-remote-content');
/** On a MachineConfig: the latest stored snapshot of its remote content. Written by the remote content controller. */
export const remoteContentAnnotation = ours('remote-content');
/** On a pool: why its MachineConfigs cannot be rendered, as JSON. Written by the render controller. */
export const renderProblemsAnnotation = ours('render-problems');
/** On a pool: the rendered config that overrides spec.configuration. Written by the rollout controller. */
export const targetConfigAnnotation = ours('target-config');

/** On a pool, set by users: how a new config is rolled out. docs/rollouts.md documents the values. */
export const rolloutPolicyAnnotations = {
  /** Size of each wave, such as `1,10%,100%`. The first wave is the canary. */
  waves: ours('rollout-waves'),
  /** How long a wave must be healthy before the next one starts, such as `10m`. */
  soak: ours('rollout-soak'),
  /** What happens when a machine fails: `halt` the rollout, or `return` to the last good config. */
  onFailure: ours('rollout-on-failure'),
  /** When a held target is released: `until-new-render` or `until-resume`. */
  hold: ours('rollout-hold'),
} as const;
/** On a pool, set by a user: `cancel`, `resume`, `rollback` or `rollback=<rendered config>`. Removed when handled. */
export const rolloutRequestAnnotation = ours('rollout-request');
/** On a pool: the progress of its rollout, as JSON. Written by the rollout controller. */
export const rolloutStateAnnotation = ours('rollout');
/** On a pool: its recent rollouts, as JSON. Written by the rollout controller. */
export const rolloutHistoryAnnotation = ours('rollout-history');
/** On the MachineConfiguration `cluster`, set by a user: stops all rollouts. The value is the reason. */
export const stopRolloutsAnnotation = ours('stop-rollouts');
/** On a rendered MachineConfig: the MachineConfigs it was merged from, as JSON. Written by the render controller. */
export const sourcesAnnotation = ours('sources');
/** On a Node: why and when its desiredConfig was assigned. Written together with it. */
export const targetReasonAnnotation = ours('target-reason');
/** On a Node that the drain controller cordoned: since when. Without it, a cordoned Node stays cordoned. */
export const cordonedAnnotation = ours('cordoned');
/** On a Node: when its drain started. */
export const drainSinceAnnotation = ours('drain-since');
/** On a Node: what blocks its drain, human-readable. The drain controller removes it when the drain proceeds. */
export const drainBlockedAnnotation = ours('drain-blocked');

/** On a Node that may reboot for its update: what `scale-down-disabled` of the cluster autoscaler was before. */
export const scaleDownBeforeAnnotation = ours('scale-down-disabled-before');
/** On a Machine or MachineHealthCheck that the drain controller paused: the nodes that may reboot, with commas. */
export const rebootingNodesAnnotation = ours('rebooting-nodes');

/** On the MachineConfiguration `cluster`: how nodes handle drift: `leave`, `heal` or `heal-after=10m`. */
export const driftPolicyAnnotation = ours('drift-policy');

/** On a pool: its current OS image stream. On a rendered MachineConfig: the stream of its OS images. */
export const osStreamAnnotation = ours('os-image-stream');
/** On a pool: the last known images of its stream, as JSON. Written by the OS streams controller. */
export const osStreamImagesAnnotation = ours('os-image-stream-images');
/** On a pool: why its OS image stream cannot be used, as JSON. Written by the OS streams controller. */
export const osStreamProblemAnnotation = ours('os-image-stream-problem');
/** On the OSImageStream: the lifecycle of its streams, from the release payload and `stream-marks`, as JSON. */
export const streamLifecycleAnnotation = ours('stream-lifecycle');
/** On the OSImageStream, set by a user: streams that are deprecated, blocked or removed here, as JSON. */
export const streamMarksAnnotation = ours('stream-marks');
/** On the OSImageStream: the default stream that we set. A different one in its spec was chosen by a user. */
export const ownDefaultStreamAnnotation = ours('default-stream');
/** On the OSImageStream: which source provided each stream, as JSON. A source that fails keeps its streams. */
export const streamOriginsAnnotation = ours('stream-origins');
/** On the OSImageStream: a digest of all its sources. While it is unchanged, the registry is not queried again. */
export const streamSourcesAnnotation = ours('stream-sources');
/** On the OSImageStream: the release image that its streams were read from. */
export const releasePayloadImageAnnotation = known('release-payload-image');

/** On the ConfigMap `coreos-bootimages`: counts changes of its data, because ConfigMaps have no generation. */
export const bootImagesGenerationAnnotation = ours('boot-images-generation');
/** On the same: a digest of the data that the counter was last incremented for. */
export const bootImagesDigestAnnotation = ours('boot-images-digest');
/** On the same: when the counter was last incremented. */
export const bootImagesChangedAnnotation = ours('boot-images-changed');
/** On a MachineSet or MachineDeployment: the last action of the boot images controller, as JSON. */
export const bootImageAnnotation = ours('boot-image');
/** On the same, set by a user: its boot image is not updated. The value is the version that it is held at. */
export const bootImageHoldAnnotation = ours('boot-image-hold');
/** On a MachineSet that we created to test an image for its owner. */
export const bootImageCanaryLabel = ours('boot-image-canary');
/** On a BootImageHistory: the images of its latest entries, as JSON. */
export const bootImagesOfHistoryAnnotation = ours('boot-images');
/** On the MachineConfiguration `cluster`: why boot images are too old for an upgrade. */
export const bootImageSkewAnnotation = ours('boot-image-skew');
/** On a Cluster API infrastructure template that we created: the template that it was cloned from. */
export const clonedFromAnnotation = ours('cloned-from');
/** On a MachineSet, set by its owner: the OS image stream that its machines boot. */
export const osStreamLabel = known('osstream');

/** On a MachineSet or MachineDeployment, set by a user: `true` allows replacing an unknown boot image. */
export const bootImageAdoptAnnotation = ours('boot-image-adopt');
/** On the MachineConfiguration `cluster`: resources whose boot image update fails, and since when, as JSON. */
export const bootImageFailuresAnnotation = ours('boot-image-failures');

/** On a MachineConfigNode: the PinnedImageSets assigned to the node, and whether it may pull now, as JSON. */
export const pinAssignmentAnnotation = ours('pinned-images');
/** On a pool: the PinnedImageSets in its spec that the controller added, as JSON. Users added the others. */
export const addedImageSetsAnnotation = ours('pinned-image-sets-added');
/** On a pool: the progress of its pinned images, as JSON. Written by the pinned images controller. */
export const pinSummaryAnnotation = ours('pinned-images-status');
/** On a pool, set by users: how many machines may pull pinned images concurrently, such as `10%`. Default: all. */
export const maxPullingAnnotation = ours('pinned-images-max-pulling');

/** Only rendered MachineConfigs have this name prefix. */
export const RENDERED_PREFIX = 'rendered-';
