import { once } from 'node:events';
import { connect } from 'node:net';

const END_OF_HEAD = '\r\n\r\n';

/** One HTTP/1.1 connection that is kept alive: a request, its whole answer, and only then the next request. */
export class Connection {
  static async open(port) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
    await once(socket, 'connect');
    return new Connection(socket);
  }

  #socket;
  #received = '';
  #waiting = null;

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (text) => this.#receive(text));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The server closed the connection.')));
  }

  /** `{ status, head }` of the answer. */
  exchange(request) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(text) {
    this.#received += text;
    const endOfHead = this.#received.indexOf(END_OF_HEAD);
    if (endOfHead < 0) return;
    const head = this.#received.slice(0, endOfHead);
    const length = /^content-length: (\d+)/im.exec(head)?.[1];
    if (length === undefined) return this.#fail(new Error(`An answer without a Content-Length:\n${head}`));
    if (this.#received.length < endOfHead + END_OF_HEAD.length + Number(length)) return;
    this.#received = '';
    const { resolve } = this.#waiting;
    this.#waiting = null;
    resolve({ status: Number(head.slice(9, 12)), head });
  }

  #fail(error) {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
