import { execFileSync } from 'node:child_process';
import type { JsonObject } from '../json.ts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildImageQuestion } from '../testing/image-cases.ts';
import {
  alibabacloudSpec,
  baremetalImageSpec,
  ibmcloudSpec,
  libvirtSpec,
  nutanixSpec,
  openstackSpec,
  ovirtSpec,
  powervsSpec,
  vsphereSpec,
} from '../testing/provider-specs.ts';
import type { Architecture, ImageQuestion, Platform } from '../verdict.ts';
import { isNamedByInstaller, nameWithVersion, word } from './import.ts';
import { platformDef } from './index.ts';

const listCommands = (platform: Platform, spec: JsonObject, question: ImageQuestion): readonly string[] => {
  const verdict = platformDef(platform).machineApi(spec, question);
  return verdict.type === 'manual' ? verdict.commands : [verdict.type];
};

describe('a word of a command', () => {
  it.each(['plain-1.2_3', 'two words', "it's", '$(reboot)', '`reboot`', '"', '', ';', '&', '#', '~', 'ü', '*'])(
    '%j is one word for a shell',
    (text) => {
      expect(execFileSync('sh', ['-c', `printf %s ${word(text)}`], { encoding: 'utf8' })).toBe(text);
    },
  );

  it('does not steer a terminal', () => {
    expect(word('a\u001B[2Jb\nc')).toBe("'a?[2Jb?c'");
  });
});

describe('the commands for the user', () => {
  it.each<[Platform, JsonObject, Architecture, RegExp[]]>([
    [
      'vsphere',
      vsphereSpec,
      'x86_64',
      [
        /^curl .*vmware\.x86_64\.ova$/,
        /sha256sum --check$/,
        /"VM Network 2".* > options\.json$/,
        /^govc import\.ova -u vc\.example\.com -dc dc1 -ds \/dc1\/datastore\/ds1 -folder \/dc1\/vm\/demo-x7k2p -pool \/dc1\/host\/cl1\/Resources -options options\.json -name demo-x7k2p-rhcos-fd1-9\.8\.20260428-0 rhcos-9\.8\.20260428-0-vmware\.x86_64\.ova$/,
        /^govc vm\.markastemplate -u vc\.example\.com -dc dc1 demo-x7k2p-rhcos-fd1-9\.8\.20260428-0$/,
        /^kubectl .*"template":"demo-x7k2p-rhcos-fd1-9\.8\.20260428-0"/,
      ],
    ],
    [
      'openstack',
      openstackSpec,
      'aarch64',
      [
        /^curl .*openstack\.aarch64\.qcow2\.gz$/,
        /sha256sum --check$/,
        /^gunzip /,
        /openstack\.aarch64\.qcow2' \| sha256sum --check$/,
        /^openstack --os-cloud openstack image create .*--file rhcos-9\.8\.20260428-0-openstack\.aarch64\.qcow2 demo-x7k2p-rhcos-9\.8\.20260428-0$/,
        /"image":"demo-x7k2p-rhcos-9\.8\.20260428-0"/,
      ],
    ],
    [
      'openstack',
      { ...openstackSpec, rootVolume: { sourceUUID: 'demo-x7k2p-rhcos' } },
      'x86_64',
      [
        /^curl/,
        /sha256/,
        /^gunzip/,
        /sha256/,
        /^openstack/,
        /"rootVolume":\{"sourceUUID":"demo-x7k2p-rhcos-9\.8\.20260428-0"\}/,
      ],
    ],
    [
      'nutanix',
      nutanixSpec,
      'x86_64',
      [
        /"source_uri":"https:.*nutanix\.x86_64\.qcow2","checksum":\{"checksum_algorithm":"SHA_256","checksum_value":"[0-9a-f]{64}"/,
        /"type":"name","name":"demo-x7k2p-rhcos-9\.8\.20260428-0"/,
      ],
    ],
    [
      'ibmcloud',
      ibmcloudSpec,
      's390x',
      [
        /^curl/,
        /sha256/,
        /^gunzip/,
        /sha256/,
        /^ibmcloud cos upload --bucket "\$BUCKET" --region us-south --key rhcos/,
        /^ibmcloud is image-create demo-x7k2p-rhcos-9-8-20260428-0 --file cos:\/\/us-south\/"\$BUCKET"\/rhcos-9\.8\.20260428-0-ibmcloud\.s390x\.qcow2 --os-name red-8-s390x-byol --resource-group-name demo-x7k2p$/,
        /"image":"demo-x7k2p-rhcos-9-8-20260428-0"/,
      ],
    ],
    [
      'powervs',
      powervsSpec,
      'ppc64le',
      [
        /^REGION=us-south # .*us-south eu-de$/,
        /^ibmcloud pi image import rhcos-demo-x7k2p-9\.8\.20260428-0 .*--region "\$REGION" --bucket rhcos-powervs-images-"\$REGION" --image-file-name rhcos-9-8-20260428-0-ppc64le-powervs\.ova\.gz$/,
        /"name":"rhcos-demo-x7k2p-9\.8\.20260428-0"/,
      ],
    ],
    [
      'libvirt',
      libvirtSpec,
      'x86_64',
      [
        /^curl/,
        /sha256/,
        /^gunzip/,
        /sha256/,
        /^virsh --connect qemu\+tcp:\/\/192\.168\.122\.1\/system vol-create-as demo-x7k2p demo-x7k2p-base-9\.8\.20260428-0 /,
        /vol-upload/,
        /"baseVolumeID":"demo-x7k2p-base-9\.8\.20260428-0"/,
      ],
    ],
    [
      'ovirt',
      ovirtSpec,
      'x86_64',
      [
        /^curl/,
        /sha256/,
        /^gunzip/,
        /sha256/,
        /ovirt_disk/,
        /ovirt_vm/,
        /ovirt_template/,
        /ovirt_vm .*absent/,
        /"template_name":"demo-x7k2p-rhcos-9\.8\.20260428-0"/,
      ],
    ],
    [
      'baremetal',
      { ...baremetalImageSpec, image: { url: 'http://172.22.0.3:6180/images/a.qcow2/b.qcow2', checksum: 'x' } },
      'x86_64',
      [/"customDeploy":\{"method":"install_coreos"\},"image":\{"url":"","checksum":""\}/],
    ],
  ])('on %s is all there', (platform, spec, architecture, expected) => {
    const commands = listCommands(platform, spec, buildImageQuestion({ name: 'workers-a', architecture }));
    expect(commands).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
    expect(commands.at(-1)).toMatch(
      /^kubectl --namespace openshift-machine-api patch machinesets\.machine\.openshift\.io workers-a --type merge --patch '/,
    );
  });

  it('on alibabacloud is to import an image that the release has only as a file', () => {
    const question = buildImageQuestion({ name: 'workers-a' });
    const { images: _, ...rest } = question.images;
    expect(listCommands('alibabacloud', alibabacloudSpec, { ...question, images: rest }).join('\n')).toContain(
      'aliyun ecs ImportImage --RegionId ap-southeast-1 --ImageName demo-x7k2p-rhcos-9.8.20260428-0',
    );
  });

  it('is the same for a shell whatever names the spec has', () => {
    const odd = "$(touch x)'; touch y #";
    const question = { ...buildImageQuestion({ name: 'workers-a' }), isAdopted: true };
    const commands = listCommands('openstack', { ...openstackSpec, image: odd, cloudName: odd }, question);
    const shown = commands
      .filter((command) => command.startsWith('openstack '))
      .map((command) => {
        const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command.slice('openstack '.length)}`], {
          encoding: 'utf8',
        });
        return words.trimEnd().split('\n');
      });
    expect(shown).toEqual([expect.arrayContaining([odd, `${odd}-9.8.20260428-0`])]);
  });
});

describe('the name of an image that a user imports', () => {
  it.each([
    ['demo-rhcos', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-9.6.20250523-0', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-418.94.202410090804-0', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-9-6-20250523-0', '9-8-20260428-0', 'demo-rhcos-9-8-20260428-0'],
    ['demo-rhcos-40.20240416.3.1', '41.20250101.3.0', 'demo-rhcos-41.20250101.3.0'],
    ['demo-rhcos-zone-1', '9.8.20260428-0', 'demo-rhcos-zone-1-9.8.20260428-0'],
    ['demo-rhcos-zone-1-9.8.20260428-0', '9.8.20260428-0', 'demo-rhcos-zone-1-9.8.20260428-0'],
  ])('%s becomes, with version %s, %s', (name, version, expected) => {
    expect(nameWithVersion(name, version, 80)).toBe(expected);
  });

  it('stays within the length that the platform allows, and is the same again', () => {
    const version = fc
      .tuple(fc.nat(20), fc.nat(20), fc.integer({ min: 20_200_101, max: 20_991_231 }), fc.nat(9))
      .map(([major, minor, day, build]) => `${major}.${minor}.${day}-${build}`);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100 }), version, version, (name, one, other) => {
        const named = nameWithVersion(name, one, 63);
        expect(named.length).toBeLessThanOrEqual(Math.max(63, name.length));
        expect(nameWithVersion(named, one, 63)).toBe(named);
        expect(nameWithVersion(nameWithVersion(named, other, 63), one, 63)).toHaveLength(named.length);
      }),
    );
  });
});

describe('a name is the installer’s', () => {
  const question = buildImageQuestion({ name: 'a' });

  it.each([
    ['demo-x7k2p-rhcos', true],
    ['demo-x7k2p-rhcos-fd1', true],
    ['demo-x7k2p-rhcos-9.8.20260428-0', true],
    ['demo-x7k2p-rhcosy', false],
    ['demo-x7k2p', false],
    ['other-demo-x7k2p-rhcos', false],
    ['golden', false],
  ])('%s: %s', (name, expected) => {
    expect(isNamedByInstaller(name, question)).toBe(expected);
  });

  it('never if the name of the cluster is unknown', () => {
    expect(isNamedByInstaller('-rhcos', { ...question, infrastructureName: '' })).toBe(false);
  });
});
