// The library needs class metadata, and its import fails unless this one comes first.
import 'reflect-metadata';
export * from '@peculiar/x509';
