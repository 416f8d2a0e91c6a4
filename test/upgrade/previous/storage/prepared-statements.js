export async function reachesServerDirectly(dataSource) {
    const runner = dataSource.createQueryRunner('master');
    try {
        const client = (await runner.connect());
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
        return rows[0]?.pid === client.processID;
    }
    finally {
        await runner.release();
    }
}
