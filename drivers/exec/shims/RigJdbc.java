import java.io.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;

/*
 * SQL sessions for rig through JDBC: any number of them in one process, a thread for each.
 *
 *     java -cp DRIVER.jar RigJdbc.java            (or: javac RigJdbc.java; java -cp DRIVER.jar:. RigJdbc, which starts faster)
 *
 * It speaks the protocol of rig's docs/sql-programs.md. The `connection` of a plan is a JDBC URL. Databases within the JVM (H2,
 * HSQLDB, Derby) need one process for all sessions, and 16 sessions in one JVM take a quarter of the memory of 8 JVMs.
 */
public final class RigJdbc {
    static final int PREPARED_MOST = 256;
    static final Map<Long, Session> sessions = new HashMap<>();
    static OutputStream answers;

    static final class Session extends Thread {
        final long number;
        final LinkedBlockingQueue<Map<?, ?>> requests = new LinkedBlockingQueue<>();
        final Map<String, PreparedStatement> prepared = new LinkedHashMap<>(16, 0.75f, true); // the least recently used first
        Connection connection;

        Session(long number) {
            this.number = number;
            setDaemon(true);
        }

        public void run() {
            for (;;) {
                Map<?, ?> request;
                try {
                    request = requests.take();
                } catch (InterruptedException e) {
                    return;
                }
                long start = System.nanoTime(); // CLOCK_MONOTONIC
                String answer;
                try {
                    answer = perform(request);
                } catch (SQLException e) {
                    answer = error(e);
                } catch (RuntimeException | Error e) {
                    answer = error(new SQLException(e.toString(), "", 0));
                }
                write("{\"id\":" + request.get("id") + "," + answer + ",\"start\":" + start + ",\"end\":" + System.nanoTime() + "}");
                synchronized (sessions) { // the thread ends with its session, and only when no request waits
                    if (connection == null && requests.isEmpty()) {
                        sessions.remove(number);
                        return;
                    }
                }
            }
        }

        /* A chain of exceptions is one error: its first state and code, and all texts. */
        String error(SQLException e) {
            String state = e.getSQLState() == null ? "" : e.getSQLState(), text = String.valueOf(e.getMessage());
            for (SQLException next = e.getNextException(); next != null; next = next.getNextException())
                text += "; " + next.getSQLState() + " " + next.getMessage();
            boolean alive = false;
            try {
                alive = connection != null && !connection.isClosed() && !state.startsWith("08");
            } catch (SQLException f) {
                text += "; " + f.getMessage();
            }
            return "\"error\":{\"state\":" + quote(state) + ",\"code\":" + e.getErrorCode() + ",\"text\":" + quote(text) + "},\"alive\":" + alive;
        }

        String perform(Map<?, ?> request) throws SQLException {
            if (request.get("open") != null)
                return open((Map<?, ?>) request.get("open"));
            if (connection == null)
                throw new SQLException("session " + number + " is not open", "", 0);
            if (request.get("sql") != null)
                return execute((String) request.get("sql"), (String) request.get("types"), (List<?>) request.get("args"));
            boolean close = request.get("close") != null, commit = request.get("commit") != null;
            if (!close && !commit && request.get("rollback") == null)
                throw new SQLException("a request is one of open, sql, commit, rollback, close", "", 0);
            if (close) {
                Connection closing = connection;
                connection = null;
                prepared.clear();
                if (!closing.getAutoCommit()) // close() alone commits in some drivers
                    closing.rollback();
                closing.close();
                return "\"done\":true";
            }
            if (connection.getAutoCommit())
                throw new SQLException("this session has autocommit: its transactions end by SQL texts", "", 0);
            connection.clearWarnings(); // of earlier statements
            if (commit)
                connection.commit();
            else
                connection.rollback();
            SQLWarning warning = connection.getWarnings();
            return "\"done\":true" + (warning == null ? "" : ",\"warning\":" + quote(warning.getSQLState() + " " + warning.getMessage()));
        }

        String open(Map<?, ?> how) throws SQLException {
            if (connection != null)
                throw new SQLException("session " + number + " is open", "", 0);
            String url = given(how, "connection"), user = given(how, "user"), password = given(how, "password");
            if (url == null)
                throw new SQLException("there is no JDBC URL: give one in the plan, or in RIG_SQL_CONNECTION", "", 0);
            Properties account = new Properties();
            if (user != null)
                account.setProperty("user", user);
            if (password != null)
                account.setProperty("password", password);
            Connection opened = DriverManager.getConnection(url, account);
            try {
                if (how.get("isolation") != null)
                    isolate(opened, url, (String) how.get("isolation"));
                opened.setAutoCommit(how.get("autocommit") != null);
                DatabaseMetaData about = opened.getMetaData();
                connection = opened;
                return "\"done\":true,\"server\":" + quote(about.getDatabaseProductName() + " " + about.getDatabaseProductVersion())
                        + ",\"driver\":" + quote(about.getDriverName() + " " + about.getDriverVersion());
            } finally {
                if (connection == null)
                    opened.close();
            }
        }

        static String given(Map<?, ?> how, String name) {
            return how.get(name) != null ? (String) how.get(name) : System.getenv("RIG_SQL_" + name.toUpperCase());
        }

        static void isolate(Connection opened, String url, String isolation) throws SQLException {
            Map<String, Integer> levels = Map.of("READ UNCOMMITTED", 1, "READ COMMITTED", 2, "REPEATABLE READ", 4, "SERIALIZABLE", 8,
                    "SNAPSHOT", url.startsWith("jdbc:h2:") ? 6 : 4096); // JDBC has no number for it: H2's, and SQL Server's
            Integer level = levels.get(isolation);
            if (level == null)
                throw new SQLException("isolation " + isolation + ": JDBC has no such level", "", 0);
            opened.setTransactionIsolation(level);
            if (opened.getTransactionIsolation() != level)
                throw new SQLException("isolation " + isolation + " was set, and the driver keeps level " + opened.getTransactionIsolation(), "", 0);
        }

        String execute(String sql, String types, List<?> args) throws SQLException {
            if (args == null) {
                try (Statement statement = connection.createStatement()) {
                    return result(statement, statement.execute(sql));
                }
            }
            PreparedStatement statement = prepared.get(sql);
            if (statement == null) {
                if (prepared.size() >= PREPARED_MOST)
                    prepared.remove(prepared.keySet().iterator().next()).close();
                prepared.put(sql, statement = connection.prepareStatement(sql));
            }
            for (int i = 0; i < args.size(); i++) {
                String arg = (String) args.get(i);
                boolean number = types.charAt(i) == 'i';
                if (arg == null)
                    statement.setNull(i + 1, number ? Types.BIGINT : Types.VARCHAR);
                else if (number)
                    statement.setLong(i + 1, Long.parseLong(arg));
                else
                    statement.setString(i + 1, arg);
            }
            return result(statement, statement.execute());
        }

        /* The first result; later ones are awaited, for their errors. */
        static String result(Statement statement, boolean hasRows) throws SQLException {
            StringBuilder b = new StringBuilder(hasRows ? "\"rows\":[" : "\"count\":" + statement.getUpdateCount());
            if (hasRows) {
                try (ResultSet rows = statement.getResultSet()) {
                    int columns = rows.getMetaData().getColumnCount();
                    for (String separator = "["; rows.next(); separator = ",[") {
                        b.append(separator);
                        for (int i = 1; i <= columns; i++) {
                            String cell = rows.getString(i); // never a double or a long: text has every digit
                            b.append(i == 1 ? "" : ",").append(cell == null ? "null" : quote(cell));
                        }
                        b.append("]");
                    }
                }
                b.append("]");
            }
            while (statement.getMoreResults() || statement.getUpdateCount() != -1)
                continue;
            return b.toString();
        }
    }

    static void write(String answer) {
        byte[] line = (answer + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (answers) { // a whole line in one write
            try {
                answers.write(line);
            } catch (IOException e) {
                Runtime.getRuntime().halt(1); // rig is gone
            }
        }
    }

    static String quote(String s) {
        StringBuilder b = new StringBuilder(s.length() + 2).append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c < ' ')
                b.append(String.format("\\u%04x", (int) c));
            else
                b.append(c == '"' || c == '\\' ? "\\" : "").append(c);
        }
        return b.append('"').toString();
    }

    /* Reads JSON: objects, arrays, texts, integers, true, false, null. Anything else is an exception. */
    static final class Json {
        final String s;
        int at;

        Json(String text) {
            s = text;
        }

        char peek() {
            while (s.charAt(at) <= ' ')
                at++;
            return s.charAt(at);
        }

        boolean take(char c) {
            boolean there = peek() == c;
            at += there ? 1 : 0;
            return there;
        }

        <T> T word(String word, T value) {
            if (!s.startsWith(word, at))
                throw new IllegalArgumentException("column " + at + ": no JSON");
            at += word.length();
            return value;
        }

        Object value() {
            if (take('{')) {
                Map<String, Object> map = new HashMap<>();
                while (!take('}')) {
                    String key = (String) value();
                    word(take(':') ? "" : ":", null);
                    map.put(key, value());
                    take(',');
                }
                return map;
            }
            if (take('[')) {
                List<Object> list = new ArrayList<>();
                while (!take(']')) {
                    list.add(value());
                    take(',');
                }
                return list;
            }
            switch (peek()) {
            case '"': return text();
            case 't': return word("true", true);
            case 'f': return word("false", null); // as if it were absent
            case 'n': return word("null", null);
            }
            int from = at;
            while (at < s.length() && "-0123456789".indexOf(s.charAt(at)) >= 0)
                at++;
            return Long.parseLong(s.substring(from, at));
        }

        String text() {
            StringBuilder b = new StringBuilder();
            for (at++; s.charAt(at) != '"'; at++) {
                char c = s.charAt(at);
                if (c == '\\') {
                    c = s.charAt(++at);
                    int known = "nrtbf".indexOf(c);
                    if (c == 'u')
                        c = (char) Integer.parseInt(s.substring(at + 1, (at += 4) + 1), 16);
                    else if (known >= 0)
                        c = "\n\r\t\b\f".charAt(known);
                }
                b.append(c);
            }
            at++;
            return b.toString();
        }
    }

    public static void main(String[] arguments) throws IOException {
        answers = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // text that a driver prints goes to the log, never between the answers
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            Map<?, ?> hello = (Map<?, ?>) new Json(String.valueOf(in.readLine())).value();
            if (!"sql".equals(hello.get("role")))
                throw new IllegalArgumentException("the first line is to have \"role\": \"sql\"");
            write("{\"ready\":true,\"version\":\"JDBC on Java " + System.getProperty("java.version") + "\"}");
            for (String line; (line = in.readLine()) != null;) {
                Map<?, ?> request = (Map<?, ?>) new Json(line).value();
                long number = (Long) request.get("session"), id = (Long) request.get("id");
                if (number < 0)
                    throw new IllegalArgumentException("request " + id + ": sessions are numbers from 0");
                synchronized (sessions) {
                    Session session = sessions.get(number);
                    if (session == null) {
                        sessions.put(number, session = new Session(number));
                        session.start();
                    }
                    session.requests.add(request);
                }
            }
        } catch (RuntimeException e) {
            System.err.println("RigJdbc: not a request: " + e);
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0); // at once: no close() that commits, the database rolls back
    }
}
