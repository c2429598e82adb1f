// providerSpec.value as installers write it, for every platform: with the image of an older release, and all other
// fields of such a spec, so that tests notice a lost field.
import { sampleAliyunImage, sampleAmi, sampleLocation, olderStream, sampleSha256 } from './stream-metadata.ts';
import type { JsonObject } from '../json.ts';

/** Infrastructure `cluster`, status.infrastructureName. */
export const INFRASTRUCTURE_NAME = 'demo-x7k2p';
const MACHINE_API = 'machine.openshift.io/v1beta1';
const userDataSecret = { name: 'worker-user-data' };
const meta = { creationTimestamp: null };
const { version } = olderStream;

export const gcpSpec: JsonObject = {
  apiVersion: MACHINE_API,
  kind: 'GCPMachineProviderSpec',
  metadata: meta,
  projectID: 'demo-project',
  region: 'us-central1',
  zone: 'us-central1-a',
  machineType: 'n2-standard-4',
  canIPForward: false,
  deletionProtection: false,
  credentialsSecret: { name: 'gcp-cloud-credentials' },
  disks: [
    {
      autoDelete: true,
      boot: true,
      image: 'projects/rhcos-cloud/global/images/rhcos-9-6-20250523-0-gcp-x86-64',
      labels: null,
      sizeGb: 128,
      type: 'pd-ssd',
    },
    {
      autoDelete: true,
      boot: false,
      image: 'projects/demo-project/global/images/data',
      labels: { use: 'data' },
      sizeGb: 500,
      type: 'pd-balanced',
    },
  ],
  networkInterfaces: [{ network: 'demo-x7k2p-network', subnetwork: 'demo-x7k2p-worker-subnet' }],
  serviceAccounts: [
    {
      email: 'demo-x7k2p-w@demo-project.iam.gserviceaccount.com',
      scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    },
  ],
  shieldedInstanceConfig: { secureBoot: 'Enabled' },
  tags: ['demo-x7k2p-worker'],
  gcpMetadata: [{ key: 'serial-port', value: null }],
  userDataSecret,
};

export const awsSpec: JsonObject = {
  apiVersion: MACHINE_API,
  kind: 'AWSMachineProviderConfig',
  metadata: meta,
  ami: { id: sampleAmi(version, 'x86_64', 'us-east-1') },
  blockDevices: [{ ebs: { encrypted: true, iops: 0, kmsKey: { arn: '' }, volumeSize: 120, volumeType: 'gp3' } }],
  capacityReservationId: '',
  credentialsSecret: { name: 'aws-cloud-credentials' },
  deviceIndex: 0,
  iamInstanceProfile: { id: 'demo-x7k2p-worker-profile' },
  instanceType: 'm6i.xlarge',
  metadataServiceOptions: {},
  placement: { availabilityZone: 'us-east-1a', region: 'us-east-1' },
  securityGroups: [{ filters: [{ name: 'tag:Name', values: ['demo-x7k2p-node'] }] }],
  subnet: { filters: [{ name: 'tag:Name', values: ['demo-x7k2p-subnet-private-us-east-1a'] }] },
  tags: [{ name: 'kubernetes.io/cluster/demo-x7k2p', value: 'owned' }],
  userDataSecret,
};

export const azureSpec: JsonObject = {
  apiVersion: MACHINE_API,
  kind: 'AzureMachineProviderSpec',
  metadata: meta,
  acceleratedNetworking: true,
  credentialsSecret: { name: 'azure-cloud-credentials', namespace: 'openshift-machine-api' },
  diagnostics: {},
  image: {
    offer: 'aro4',
    publisher: 'azureopenshift',
    resourceID: '',
    sku: 'aro_419-v2',
    type: 'MarketplaceNoPlan',
    version: olderStream.marketplace.free,
  },
  location: 'centralus',
  managedIdentity: 'demo-x7k2p-identity',
  networkResourceGroup: 'demo-x7k2p-rg',
  osDisk: { diskSettings: {}, diskSizeGB: 128, managedDisk: { storageAccountType: 'Premium_LRS' }, osType: 'Linux' },
  publicIP: false,
  publicLoadBalancer: 'demo-x7k2p',
  resourceGroup: 'demo-x7k2p-rg',
  subnet: 'demo-x7k2p-worker-subnet',
  userDataSecret,
  vmSize: 'Standard_D4s_v3',
  vnet: 'demo-x7k2p-vnet',
  zone: '1',
};

export const alibabacloudSpec: JsonObject = {
  apiVersion: 'machine.openshift.io/v1',
  kind: 'AlibabaCloudMachineProviderConfig',
  metadata: meta,
  bandwidth: {},
  credentialsSecret: { name: 'alibabacloud-credentials' },
  imageId: sampleAliyunImage(version, 'ap-southeast-1'),
  instanceType: 'ecs.g6.large',
  ramRoleName: 'demo-x7k2p-role-worker',
  regionId: 'ap-southeast-1',
  resourceGroup: { id: 'rg-demo', type: 'ID' },
  securityGroups: [{ tags: [{ Key: 'Name', Value: 'demo-x7k2p-sg-worker' }], type: 'Tags' }],
  systemDisk: { category: 'cloud_essd', size: 120 },
  tag: [{ Key: 'kubernetes.io/cluster/demo-x7k2p', Value: 'owned' }],
  userDataSecret,
  vSwitch: { tags: [{ Key: 'Name', Value: 'demo-x7k2p-vswitch' }], type: 'Tags' },
  vpcId: 'vpc-demo',
  zoneId: 'ap-southeast-1a',
};

const hostSelector = {
  matchExpressions: [{ key: 'coreos.openshift.io/stream', operator: 'notin', values: ['rhel-10'] }],
};
export const baremetalSpec: JsonObject = {
  apiVersion: 'baremetal.cluster.k8s.io/v1alpha1',
  kind: 'BareMetalMachineProviderSpec',
  metadata: meta,
  customDeploy: { method: 'install_coreos' },
  hostSelector,
  image: { checksum: '', url: '' },
  userData: { name: 'worker-user-data-managed' },
};
const metalLocation = sampleLocation(version, 'x86_64', 'metal.x86_64.raw.gz');
export const baremetalImageSpec: JsonObject = {
  apiVersion: 'baremetal.cluster.k8s.io/v1alpha1',
  kind: 'BareMetalMachineProviderSpec',
  metadata: meta,
  automatedCleaningMode: 'metadata',
  hostSelector,
  image: { checksum: sampleSha256(metalLocation), url: metalLocation },
  userData: { name: 'worker-user-data' },
};

export const vsphereSpec: JsonObject = {
  apiVersion: MACHINE_API,
  kind: 'VSphereMachineProviderSpec',
  metadata: meta,
  credentialsSecret: { name: 'vsphere-cloud-credentials' },
  diskGiB: 120,
  memoryMiB: 16_384,
  network: { devices: [{ networkName: 'VM Network 2' }] },
  numCPUs: 4,
  numCoresPerSocket: 4,
  snapshot: '',
  tagIDs: ['urn:vmomi:InventoryServiceTag:5736bf56-49f5-4667-b38c-b97e09dc9578:GLOBAL'],
  template: 'demo-x7k2p-rhcos-fd1',
  userDataSecret,
  workspace: {
    datacenter: 'dc1',
    datastore: '/dc1/datastore/ds1',
    folder: '/dc1/vm/demo-x7k2p',
    resourcePool: '/dc1/host/cl1/Resources',
    server: 'vc.example.com',
  },
};

export const openstackSpec: JsonObject = {
  apiVersion: 'machine.openshift.io/v1alpha1',
  kind: 'OpenstackProviderSpec',
  metadata: meta,
  cloudName: 'openstack',
  cloudsSecret: { name: 'openstack-cloud-credentials', namespace: 'openshift-machine-api' },
  flavor: 'm1.xlarge',
  image: 'demo-x7k2p-rhcos',
  networks: [{ filter: {}, subnets: [{ filter: { tags: 'openshiftClusterID=demo-x7k2p' } }] }],
  securityGroups: [{ filter: {}, name: 'demo-x7k2p-worker' }],
  serverGroupName: 'demo-x7k2p-worker',
  serverMetadata: { Name: 'demo-x7k2p-worker', openshiftClusterID: 'demo-x7k2p' },
  tags: ['openshiftClusterID=demo-x7k2p'],
  trunk: true,
  userDataSecret,
};

export const nutanixSpec: JsonObject = {
  apiVersion: 'machine.openshift.io/v1',
  kind: 'NutanixMachineProviderConfig',
  metadata: meta,
  bootType: '',
  categories: [{ key: 'kubernetes-io-cluster-demo-x7k2p', value: 'owned' }],
  cluster: { type: 'uuid', uuid: '0005a0f3-8f43-a0f2-02b7-3cecef193712' },
  credentialsSecret: { name: 'nutanix-credentials' },
  image: { name: 'demo-x7k2p-rhcos', type: 'name' },
  memorySize: '16Gi',
  subnets: [{ type: 'uuid', uuid: 'c7938dc6-7659-453e-a688-e26020c68e43' }],
  systemDiskSize: '120Gi',
  userDataSecret,
  vcpuSockets: 4,
  vcpusPerSocket: 1,
};

export const ibmcloudSpec: JsonObject = {
  apiVersion: 'ibmcloudproviderconfig.openshift.io/v1beta1',
  kind: 'IBMCloudMachineProviderSpec',
  metadata: meta,
  credentialsSecret: { name: 'ibmcloud-credentials' },
  image: 'demo-x7k2p-rhcos',
  primaryNetworkInterface: {
    securityGroups: ['demo-x7k2p-sg-cluster-wide', 'demo-x7k2p-sg-openshift-net'],
    subnet: 'demo-x7k2p-subnet-compute-us-south-1',
  },
  profile: 'bx2-4x16',
  region: 'us-south',
  resourceGroup: 'demo-x7k2p',
  userDataSecret,
  vpc: 'demo-x7k2p-vpc',
  zone: 'us-south-1',
};

export const powervsSpec: JsonObject = {
  apiVersion: 'machine.openshift.io/v1',
  kind: 'PowerVSMachineProviderConfig',
  metadata: meta,
  credentialsSecret: { name: 'powervs-credentials' },
  image: { name: 'rhcos-demo-x7k2p', type: 'Name' },
  keyPairName: 'demo-x7k2p-key',
  memoryGiB: 32,
  network: { regex: '^DHCPSERVER[0-9a-z]{32}_Private$', type: 'RegEx' },
  processorType: 'Shared',
  processors: '0.5',
  serviceInstance: { name: 'demo-x7k2p-power-iaas', type: 'Name' },
  systemType: 's922',
  userDataSecret,
};

export const libvirtSpec: JsonObject = {
  apiVersion: 'libvirtproviderconfig.openshift.io/v1beta1',
  kind: 'LibvirtMachineProviderConfig',
  autostart: false,
  cloudInit: null,
  domainMemory: 16_384,
  domainVcpu: 4,
  ignKey: '',
  ignition: { userDataSecret: 'worker-user-data' },
  networkInterfaceAddress: '192.168.126.0/24',
  networkInterfaceHostname: '',
  networkInterfaceName: 'demo-x7k2p',
  networkUUID: '',
  uri: 'qemu+tcp://192.168.122.1/system',
  volume: { baseVolumeID: 'demo-x7k2p-base', poolName: 'demo-x7k2p', volumeName: '' },
};

export const ovirtSpec: JsonObject = {
  apiVersion: 'ovirtproviderconfig.machine.openshift.io/v1beta1',
  kind: 'OvirtMachineProviderSpec',
  metadata: meta,
  affinity_groups_names: ['demo-x7k2p-compute'],
  auto_pinning_policy: 'none',
  cluster_id: '5f3a2b1c-0000-4000-8000-000000000001',
  cpu: { cores: 4, sockets: 1, threads: 1 },
  credentialsSecret: { name: 'ovirt-credentials' },
  format: '',
  guaranteed_memory_mb: 10_000,
  id: '',
  memory_mb: 16_384,
  name: '',
  os_disk: { size_gb: 120 },
  template_name: 'demo-x7k2p-rhcos',
  type: 'server',
  userDataSecret,
};
