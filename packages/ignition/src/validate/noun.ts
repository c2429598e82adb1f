// The nouns of a 3.x config as the rules see them. The newest spec has every field; an older config is one that lacks some.
import type { Config } from '../spec/index.ts';

type Item<L> = NonNullable<L> extends readonly (infer I)[] ? I : never;

export type Ignition = Config['ignition'];
export type Proxy = NonNullable<Ignition['proxy']>;
export type Storage = NonNullable<Config['storage']>;
export type Systemd = NonNullable<Config['systemd']>;
export type Directory = Item<Storage['directories']>;
export type Disk = Item<Storage['disks']>;
export type File = Item<Storage['files']>;
export type Filesystem = Item<Storage['filesystems']>;
export type Link = Item<Storage['links']>;
export type Luks = Item<Storage['luks']>;
export type Raid = Item<Storage['raid']>;
export type Partition = Item<Disk['partitions']>;
export type Owner = NonNullable<File['user']>;
export type Resource = NonNullable<File['contents']>;
export type Clevis = NonNullable<Luks['clevis']>;
export type Custom = NonNullable<Clevis['custom']>;
export type Tang = Item<Clevis['tang']>;
export type Unit = Item<Systemd['units']>;
