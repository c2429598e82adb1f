import type { ImageCase } from './image-case.ts';
import { alibabacloudSpec } from '../provider-specs.ts';
import { sampleAliyunImage, rhel9 } from '../stream-metadata.ts';

const { version } = rhel9;

const aliyunImage = sampleAliyunImage(version, 'ap-southeast-1');
export const alibabacloudCases: readonly ImageCase[] = [
  {
    name: 'alibabacloud',
    platform: 'alibabacloud',
    spec: alibabacloudSpec,
    verdict: 'change',
    to: aliyunImage,
    version,
    after: { ...alibabacloudSpec, imageId: aliyunImage },
  },
  {
    name: 'alibabacloud-unknown',
    platform: 'alibabacloud',
    spec: { ...alibabacloudSpec, imageId: 'm-golden' },
    verdict: 'theirs',
  },
  {
    name: 'alibabacloud-in-a-region-without-images',
    platform: 'alibabacloud',
    spec: { ...alibabacloudSpec, regionId: 'cn-nowhere' },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_REGION',
  },
];
