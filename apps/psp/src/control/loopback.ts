/** Whether a connection comes from this machine. One without an address, as over a pipe, is not known to. */
export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address);
