// The library finds its parts by metadata on classes, and breaks at its own import where this is not there before it.
import 'reflect-metadata';
export * from '@peculiar/x509';
